#include "framewire/delta/packing/packing.hpp"

#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/delta/blocks/changes_coder.hpp"
#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/blocks/picture_coder.hpp"
#include "framewire/delta/packing/directory.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <numeric>
#include <utility>

namespace framewire::delta {
namespace {

enum class Kind : std::uint8_t { changes = 0, picture = 1 };
constexpr std::size_t head_bytes = 2;  // kind and threshold
constexpr int max_threshold = 254;

constexpr std::int64_t shares = 16;  ///< that threads take of the blocks of a frame

std::int64_t share_of(std::size_t blocks) {
    return std::max<std::int64_t>(1, (static_cast<std::int64_t>(blocks) + shares - 1) / shares);
}

/// Calls body(share, begin, end) for shares of `count` blocks, on the pool where there is one.
template <class Body>
void for_shares(const ThreadPool* pool, std::size_t count, Body&& body) {
    const auto each = share_of(count), all = static_cast<std::int64_t>(count);
    if (pool) return pool->for_chunks(all, each, body);
    for (std::int64_t begin = 0; begin < all; begin += each) body(begin / each, begin, std::min(begin + each, all));
}

void check_one_frame(const Shape& shape, const char* what) {
    validate(shape, what);
    if (shape.frames != 1)
        fail(ErrorCode::usage, "{} is a batch of {}; streams are packed one by one", what, shape.frames);
}

[[noreturn]] void broken(const char* what) { fail(ErrorCode::source_lost, "broken stream: {}", what); }

/// Differences of a frame, rows without gaps, which are zero wherever a block has none.
class Differences {
public:
    explicit Differences(const Shape& shape) : image_(shape) {
        std::memset(image_.view().data(), 0, static_cast<std::size_t>(shape.bytes()));
    }
    HostView<std::uint8_t> view() { return image_.view(); }

    void clear(const BlockPlace& block) {
        const auto to = image_.view();
        const int channels = to.shape().channels;
        for (int y = block.y; y < block.y + block.height; ++y)
            std::memset(to.row(0, y) + std::int64_t{block.x} * channels, 0,
                        static_cast<std::size_t>(block.width) * static_cast<std::size_t>(channels));
    }

private:
    HostImage image_;
};

}  // namespace

std::size_t max_packed_bytes(const Shape& shape) {
    // A changed pixel takes a flag, a pattern and three magnitudes with their bits: at most 12 bits a symbol.
    constexpr std::size_t bytes_per_pixel = 16, bytes_per_block = 512;
    const BlockGrid grid(shape);
    return head_bytes +
           static_cast<std::size_t>(shape.height) * static_cast<std::size_t>(shape.width) * bytes_per_pixel +
           static_cast<std::size_t>(grid.count()) * bytes_per_block;
}

struct Packer::State {
    Shape shape;
    BlockGrid grid;
    int threshold;
    const ThreadPool* pool;
    Differences differences;
    std::vector<int> coded;              // the blocks to code, ascending
    std::vector<std::uint8_t> is_coded;  // of all blocks
    std::vector<std::size_t> sizes;      // of those coded

    struct Share {
        ChangesEncoder changes;
        PictureEncoder picture;
        std::vector<std::uint8_t> bytes;
    };
    std::array<Share, shares> share{};

    State(const Shape& of, int threshold_, const ThreadPool* pool_)
        : shape(of),
          grid(of),
          threshold(threshold_),
          pool(pool_),
          differences(of),
          is_coded(static_cast<std::size_t>(grid.count())) {}

    /// Codes the blocks of `coded`, each by encode(share, place), and appends all.
    template <class Encode>
    void pack(Kind kind, std::vector<std::uint8_t>& out, Encode&& encode) {
        out.push_back(static_cast<std::uint8_t>(kind));
        out.push_back(static_cast<std::uint8_t>(threshold));
        sizes.resize(coded.size());
        for (auto& part : share) part.bytes.clear();
        for_shares(pool, coded.size(), [&](std::int64_t index, std::int64_t begin, std::int64_t end) {
            auto& part = share[static_cast<std::size_t>(index)];
            for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
                const auto before = part.bytes.size();
                encode(part, grid.place(coded[i]));
                sizes[i] = part.bytes.size() - before;
            }
        });
        DirectoryWriter directory(out);
        for (std::size_t i = 0; i < coded.size(); ++i) directory.add(coded[i], sizes[i]);
        directory.finish(grid.count());
        for (const auto& part : share) out.insert(out.end(), part.bytes.begin(), part.bytes.end());
    }
};

Packer::Packer(const Shape& shape, int threshold, const ThreadPool* pool) {
    check_one_frame(shape, "the packer's frame");
    if (threshold < 0 || threshold > max_threshold)
        fail(ErrorCode::usage, "a packer's threshold of {}; 0 to {} are allowed", threshold, max_threshold);
    state_ = std::make_unique<State>(shape, threshold, pool);
}
Packer::~Packer() = default;
Packer::Packer(Packer&&) noexcept = default;
Packer& Packer::operator=(Packer&&) noexcept = default;

void Packer::pack_changes(const ChangesView<MemorySpace::host>& changes, std::vector<std::uint8_t>& out) {
    auto& state = *state_;
    const auto& shape = state.shape;
    validate_found(changes, shape, "the packer's changes");
    const auto count = changes.summaries[0].count;
    const auto frame_bytes = shape.frame_bytes();
    if (std::int64_t{count} > std::min(changes.capacity, frame_bytes))
        fail(ErrorCode::usage, "{} changes in room for {}, of a frame of {} bytes", count, changes.capacity,
             frame_bytes);
    // Positions ascend, so the row moves on from change to change.
    const auto row_bytes = static_cast<std::uint32_t>(shape.row_bytes());
    const auto block_bytes = static_cast<std::uint32_t>(block_side * shape.channels);
    auto* const bytes = state.differences.view().data();
    if (count && changes.positions[count - 1] >= frame_bytes)
        fail(ErrorCode::usage, "a change at byte {} of a frame of {}", changes.positions[count - 1], frame_bytes);
    std::uint32_t row_end = row_bytes;
    auto* of_row = state.is_coded.data();
    for (std::uint32_t i = 0, y = 0; i < count; ++i) {
        const auto position = changes.positions[i];
        while (position >= row_end) {
            row_end += row_bytes;
            of_row = state.is_coded.data() +
                     static_cast<std::size_t>(++y / block_side) * static_cast<std::size_t>(state.grid.columns());
        }
        bytes[position] = changes.differences[i];
        of_row[(position - (row_end - row_bytes)) / block_bytes] = 1;
    }
    state.coded.clear();
    for (int block = 0; block < state.grid.count(); ++block)
        if (std::exchange(state.is_coded[static_cast<std::size_t>(block)], std::uint8_t{0}))
            state.coded.push_back(block);
    const HostView<const std::uint8_t> differences = state.differences.view();
    state.pack(Kind::changes, out, [&](State::Share& share, const BlockPlace& place) {
        share.changes.encode(differences, place, state.threshold, share.bytes);
        state.differences.clear(place);
    });
}

void Packer::pack_picture(HostView<const std::uint8_t> picture, std::vector<std::uint8_t>& out) {
    auto& state = *state_;
    validate(picture, state.shape, "the packer's picture");
    state.coded.resize(static_cast<std::size_t>(state.grid.count()));
    std::iota(state.coded.begin(), state.coded.end(), 0);
    state.pack(Kind::picture, out, [&](State::Share& share, const BlockPlace& place) {
        share.picture.encode(picture, place, share.bytes);
    });
}

struct Unpacker::State {
    Shape shape;
    BlockGrid grid;
    const ThreadPool* pool;
    Differences differences;        // the last changes
    std::vector<CodedBlock> coded;  // where they are; the bytes are gone
    std::uint32_t last_count = 0;

    struct Share {
        ChangesDecoder changes;
        PictureDecoder picture;
    };
    std::array<Share, shares> share{};

    State(const Shape& of, const ThreadPool* pool_) : shape(of), grid(of), pool(pool_), differences(of) {
        coded.reserve(static_cast<std::size_t>(grid.count()));
    }

    void forget() {
        for (const auto& block : coded) differences.clear(grid.place(block.block));
        coded.clear();
        last_count = 0;
    }

    /// Reads the head and the directory; returns the threshold.
    int open(std::span<const std::uint8_t> bytes, Kind kind) {
        forget();
        if (bytes.size() < head_bytes) broken("it ends within its head");
        if (bytes[0] != static_cast<std::uint8_t>(kind)) broken("it is of another kind");
        const int threshold = bytes[1];
        if (threshold > max_threshold) broken("a threshold of 255");
        if (!read_directory(bytes.subspan(head_bytes), grid.count(), coded)) {
            coded.clear();
            broken("its blocks do not fit together");
        }
        return threshold;
    }

    /// Calls decode(share, place, bytes) for each block that is coded; false when any of them is broken.
    template <class Decode>
    bool decode(Decode&& decode_block) {
        std::atomic<bool> whole = true;
        for_shares(pool, coded.size(), [&](std::int64_t index, std::int64_t begin, std::int64_t end) {
            for (auto i = begin; i < end; ++i) {
                const auto& block = coded[static_cast<std::size_t>(i)];
                if (!decode_block(share[static_cast<std::size_t>(index)], grid.place(block.block), block.bytes))
                    whole = false;
            }
        });
        return whole;
    }
};

Unpacker::Unpacker(const Shape& shape, const ThreadPool* pool) {
    check_one_frame(shape, "the unpacker's frame");
    state_ = std::make_unique<State>(shape, pool);
}
Unpacker::~Unpacker() = default;
Unpacker::Unpacker(Unpacker&&) noexcept = default;
Unpacker& Unpacker::operator=(Unpacker&&) noexcept = default;

std::uint32_t Unpacker::last_count() const { return state_->last_count; }

void Unpacker::last_changes(const ChangesView<MemorySpace::host>& changes) const {
    auto& state = *state_;
    validate(changes, state.shape, "the unpacker's changes");
    const auto differences = state.differences.view();
    const auto row_bytes = state.shape.row_bytes();
    std::uint32_t count = 0;
    // Rows of blocks one after the other, and in each of them the rows of its coded blocks.
    for (std::size_t begin = 0, end; begin < state.coded.size(); begin = end) {
        const auto first = state.grid.place(state.coded[begin].block);
        for (end = begin; end < state.coded.size() && state.grid.place(state.coded[end].block).y == first.y;) ++end;
        for (int y = first.y; y < first.y + first.height; ++y)
            for (auto i = begin; i < end; ++i) {
                const auto place = state.grid.place(state.coded[i].block);
                const auto* row = differences.row(0, y);
                const auto from = std::int64_t{place.x} * state.shape.channels;
                for (auto x = from; x < from + std::int64_t{place.width} * state.shape.channels; ++x) {
                    if (!row[x]) continue;
                    changes.positions[count] = static_cast<std::uint32_t>(y * row_bytes + x);
                    changes.differences[count++] = row[x];
                }
            }
    }
    changes.summaries[0] = {.count = count};
}

void Unpacker::apply_changes(std::span<const std::uint8_t> bytes, HostView<std::uint8_t> reference) {
    auto& state = *state_;
    validate(reference, state.shape, "the unpacker's reference");
    const int threshold = state.open(bytes, Kind::changes);
    std::atomic<std::uint32_t> count = 0;
    const auto differences = state.differences.view();
    if (!state.decode([&](State::Share& share, const BlockPlace& place, std::span<const std::uint8_t> of) {
            const int found = share.changes.decode(of, place, threshold, differences);
            if (found > 0) count += static_cast<std::uint32_t>(found);
            return found >= 0;
        })) {
        state.forget();
        broken("a block's changes make no sense");
    }
    state.decode([&](State::Share&, const BlockPlace& place, std::span<const std::uint8_t>) {
        const auto channels = state.shape.channels;
        const auto from = std::int64_t{place.x} * channels, count_bytes = std::int64_t{place.width} * channels;
        for (int y = place.y; y < place.y + place.height; ++y) {
            const auto* difference = differences.row(0, y) + from;
            auto* byte = reference.row(0, y) + from;
            for (std::int64_t x = 0; x < count_bytes; ++x) byte[x] = static_cast<std::uint8_t>(byte[x] + difference[x]);
        }
        return true;
    });
    state.last_count = count;
}

void Unpacker::apply_picture(std::span<const std::uint8_t> bytes, HostView<std::uint8_t> reference) {
    auto& state = *state_;
    validate(reference, state.shape, "the unpacker's reference");
    state.open(bytes, Kind::picture);
    const bool all = state.coded.size() == static_cast<std::size_t>(state.grid.count());
    const bool whole =
        all && state.decode([&](State::Share& share, const BlockPlace& place, std::span<const std::uint8_t> of) {
            return share.picture.decode(of, place, reference);
        });
    state.coded.clear();
    if (!all) broken("a picture without all its blocks");
    if (!whole) broken("a block of a picture makes no sense");
}

}  // namespace framewire::delta
