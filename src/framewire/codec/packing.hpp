#pragma once

#include "framewire/codec/blocks.hpp"
#include "framewire/codec/delta.hpp"
#include "framewire/codec/keyframe_coder.hpp"
#include "framewire/core/thread_pool.hpp"
#include "framewire/core/view.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace framewire::codec {

/// A coded block of a packed frame, as the directory lists it (format.md, "A frame").
struct CodedBlock {
    int block;                            ///< number of the block in the frame
    std::span<const std::uint8_t> bytes;  ///< coded bytes, owned by the packed frame
};

/// Number of directory bytes per coded block that is rarely exceeded: a number of skipped blocks, and the size of the
/// block.
inline constexpr std::size_t place_bytes = 4;

/// Writer for the directory of a frame.
class DirectoryWriter {
public:
    /// Appends to `out`, which must outlive this object.
    explicit DirectoryWriter(std::vector<std::uint8_t>& out) : out_(&out) {}
    /// Adds a block of `bytes` bytes, which must be even. Blocks must be added in ascending order.
    void add(int block, std::size_t bytes);
    /// Ends the directory of a frame with `blocks` blocks.
    void finish(int blocks);

private:
    void put(std::uint32_t number);
    void pass_over(int blocks);

    std::vector<std::uint8_t>* out_;
    int next_ = 0;
};

/// Reads the directory at the beginning of `bytes`, for a frame with `blocks` blocks, and fills `coded` with the listed
/// blocks and their bytes, which follow the directory. Returns false if `bytes` are inconsistent. Does not allocate if
/// `coded` has a capacity of `blocks`.
bool read_directory(std::span<const std::uint8_t> bytes, int blocks, std::vector<CodedBlock>& coded);

/// A coded block without its bytes.
struct BlockSize {
    int block = 0;            ///< number of the block in the frame
    std::uint32_t bytes = 0;  ///< number of its coded bytes

    friend bool operator==(const BlockSize&, const BlockSize&) = default;
};

/// Reads a directory without the blocks that follow it, which have `content_bytes` bytes in total, and fills `sizes`.
/// Returns false in the same cases as read_directory(). Does not allocate if `sizes` has a capacity of `blocks`.
bool read_block_sizes(std::span<const std::uint8_t> directory, std::size_t content_bytes, int blocks,
                      std::vector<BlockSize>& sizes);

/// Head of a packed frame: its kind and the threshold of its encoder (format.md, "A frame").
struct PackedHead {
    /// The kinds of packed frames. The values are those of the format.
    enum class Kind : std::uint8_t {
        changes = 0,        ///< delta frame: differences from the previous picture
        picture = 1,        ///< lossless keyframe
        prediction = 2,     ///< delta frame: the new picture, predicted from the previous one
        first_picture = 3,  ///< keyframe: like `prediction`, but predicted only within the blocks themselves
        blocks = 4          ///< some blocks of a lossless keyframe
    };
    /// Size of the head in bytes.
    static constexpr std::size_t bytes = 2;
    /// Maximum threshold that a head can store.
    static constexpr int max_threshold = 254;

    Kind kind;
    int threshold;
};

/// Maximum number of threads that share the blocks of a frame. The bytes do not depend on the number of threads.
inline constexpr std::size_t most_block_workers = 16;
/// Returns the number of workers for a pool; 1 if it is null.
inline std::size_t block_workers(const ThreadPool* pool) {
    return pool ? std::min(most_block_workers, static_cast<std::size_t>(pool->threads())) : 1;
}

/// Calls body(worker, group) for each group of blocks, on the threads of `pool` unless it is null. A worker that has
/// finished a group takes the next one. Calls with the same worker never overlap. Returns when all groups are done.
template <class Body>
void for_block_groups(const ThreadPool* pool, std::size_t groups, Body&& body) {
    std::atomic<std::size_t> next = 0;
    const auto work = [&](std::int64_t worker, std::int64_t, std::int64_t) {
        for (auto group = next++; group < groups; group = next++) body(static_cast<std::size_t>(worker), group);
    };
    if (pool)
        pool->for_chunks(static_cast<std::int64_t>(std::min(block_workers(pool), groups)), 1, work);
    else
        work(0, 0, 0);
}

/// Splits `count` blocks into ranges of about equal size and calls body(worker, begin, end) for each.
template <class Body>
void for_blocks(const ThreadPool* pool, std::size_t count, Body&& body) {
    constexpr std::size_t groups_each = 8;  // groups per worker: workers then finish at nearly the same time
    const auto workers = block_workers(pool), groups = workers == 1 ? 1 : groups_each * workers;
    const auto each = std::max<std::size_t>(1, (count + groups - 1) / groups);
    for_block_groups(pool, (count + each - 1) / each, [&](std::size_t worker, std::size_t group) {
        body(worker, group * each, std::min(count, (group + 1) * each));
    });
}

/// Codes the blocks of a frame on several threads and joins them into a packed frame. Not thread-safe; keeps its memory
/// between frames.
class BlockWriter {
public:
    /// Codes the blocks `coded` (ascending) of a frame with `blocks` blocks and appends head, directory and blocks to
    /// `out`. encode(worker, block, bytes) must append the coded block to `bytes`; calls with the same worker never
    /// overlap.
    template <class Encode>
    void write(const PackedHead& head, std::span<const int> coded, int blocks, const ThreadPool* pool,
               std::vector<std::uint8_t>& out, Encode&& encode) {
        begin(blocks);
        for_blocks(pool, coded.size(), [&](std::size_t worker, std::size_t from, std::size_t to) {
            auto& bytes = bytes_[worker];
            for (auto i = from; i < to; ++i) {
                const auto before = bytes.size();
                encode(worker, coded[i], bytes);
                place_of(coded[i]) = {worker, before, bytes.size() - before};
            }
        });
        finish(head, coded, blocks, out);
    }
    /// Variant of write() that codes blocks in groups: encode(worker, of, bytes, sizes) appends the blocks with the
    /// indices `of` to `bytes` and stores their sizes. `order` lists indices into `coded` in coding order. `ends` lists
    /// the end of each group in `order`; a group has at most `most` blocks.
    template <std::size_t most, class Encode>
    void write_groups(const PackedHead& head, std::span<const int> coded, std::span<const std::size_t> order,
                      std::span<const std::size_t> ends, int blocks, const ThreadPool* pool,
                      std::vector<std::uint8_t>& out, Encode&& encode) {
        begin(blocks);
        for_block_groups(pool, ends.size(), [&](std::size_t worker, std::size_t group) {
            const auto from = group ? ends[group - 1] : 0;
            const auto of = order.subspan(from, ends[group] - from);
            std::array<std::size_t, most> sizes;
            auto& bytes = bytes_[worker];
            auto at = bytes.size();
            encode(worker, of, bytes, std::span(sizes).first(of.size()));
            for (std::size_t i = 0; i < of.size(); at += sizes[i++]) place_of(coded[of[i]]) = {worker, at, sizes[i]};
        });
        finish(head, coded, blocks, out);
    }
    /// Variant of write() if the set of coded blocks is only found during coding. encode(worker, group, bytes, took) is
    /// called for each of `groups` groups. It must call took(block, size) for each block that it appended to `bytes`,
    /// in the same order.
    template <class Encode>
    void write_found(const PackedHead& head, std::size_t groups, int blocks, const ThreadPool* pool,
                     std::vector<std::uint8_t>& out, Encode&& encode) {
        begin(blocks);
        std::fill(places_.begin(), places_.end(), Place{});
        for_block_groups(pool, groups, [&](std::size_t worker, std::size_t group) {
            auto& bytes = bytes_[worker];
            encode(worker, group, bytes, [&, at = bytes.size()](int block, std::size_t size) mutable {
                place_of(block) = {worker, at, size};
                at += size;
            });
        });
        found_.clear();
        for (int block = 0; block < blocks; ++block)
            if (place_of(block).bytes > 0) found_.push_back(block);
        finish(head, found_, blocks, out);
    }

private:
    void begin(int blocks) {
        places_.resize(static_cast<std::size_t>(blocks));
        for (auto& bytes : bytes_) bytes.clear();
    }
    void finish(const PackedHead& head, std::span<const int> coded, int blocks, std::vector<std::uint8_t>& out) const;

    struct Place {
        std::size_t worker = 0, from = 0, bytes = 0;
    };
    Place& place_of(int block) { return places_[static_cast<std::size_t>(block)]; }

    std::vector<Place> places_;  // per block: where a worker has stored its bytes
    std::vector<int> found_;     // blocks that write_found() has coded
    std::array<std::vector<std::uint8_t>, most_block_workers> bytes_;
};

/// Appends a packed frame made of blocks that are already coded: head, directory, and the bytes of `coded` (ascending).
/// `blocks` is the number of blocks in the frame.
void append_packed(const PackedHead& head, std::span<const CodedBlock> coded, int blocks,
                   std::vector<std::uint8_t>& out);

/// Throws Error{usage} unless `shape` is valid and has a single frame. `what` names it in the message.
void validate_one_frame(const Shape& shape, const char* what);

/// Throws Error{usage} unless `threshold` is in 0..254, the range that a head can store.
void validate_packed_threshold(int threshold);

/// Encoder that turns a list of changes, or a picture, into a packed frame as codec/format.md specifies. Servers and
/// recordings also read the directory of packed frames, so changes of the format affect them. Keeps its memory between
/// frames. Move-only; not thread-safe.
class Packer {
public:
    /// Creates a packer for frames of `shape`, whose `frames` must be 1. `pool` is optional and must outlive this
    /// object; its threads share the blocks of each frame. The bytes are the same with and without it. Throws
    /// Error{usage} if the shape is invalid.
    explicit Packer(const Shape& shape, const ThreadPool* pool = nullptr);
    ~Packer();
    Packer(Packer&&) noexcept;
    Packer& operator=(Packer&&) noexcept;

    /// Packs the changes of one stream as a delta frame and appends it to `out`. `changes` has one stream; its
    /// positions must ascend, and each change must be larger than `threshold`. Throws Error{usage} if `threshold` is
    /// not in 0..254, if there are more changes than bytes, or if a position is outside the frame.
    void pack_changes(const ChangesView<MemorySpace::host>& changes, int threshold, std::vector<std::uint8_t>& out);
    /// Packs `picture` as a lossless keyframe and appends it to `out`. Any strides. `threshold` is only written to the
    /// head. Throws Error{usage} if it is not in 0..254 or the shape is wrong.
    void pack_picture(HostView<const std::uint8_t> picture, int threshold, std::vector<std::uint8_t>& out);

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Decoder for packed frames. Treats its input as hostile: throws Error{source_lost} on bytes that violate the format
/// for its shape, never accesses memory out of bounds, and never allocates memory by sizes in the input. Move-only; not
/// thread-safe.
class Unpacker {
public:
    /// Creates an unpacker for frames of `shape`, whose `frames` must be 1. `pool` is as for Packer. Throws
    /// Error{usage} if the shape is invalid.
    explicit Unpacker(const Shape& shape, const ThreadPool* pool = nullptr);
    ~Unpacker();
    Unpacker(Unpacker&&) noexcept;
    Unpacker& operator=(Unpacker&&) noexcept;

    /// Applies a delta frame (kinds changes, prediction and blocks) to `reference`. If the bytes are broken, throws
    /// Error{source_lost} and leaves `reference` unchanged.
    void apply_changes(std::span<const std::uint8_t> bytes, HostView<std::uint8_t> reference);
    /// Replaces `reference` by a keyframe (kinds picture and first picture). If the bytes are broken, throws
    /// Error{source_lost}; the content of `reference` is then unspecified.
    void apply_picture(std::span<const std::uint8_t> bytes, HostView<std::uint8_t> reference);
    /// Variant for damaged streams. `left_out` has one entry per block of the frame. On entry, nonzero entries mark
    /// blocks that must remain unchanged because their bytes are damaged or, in delta frames, their pixels are already
    /// wrong. On return, it also marks the blocks that could not be decoded, or are predicted from blocks marked on
    /// entry; they remain unchanged, too. Throws Error{source_lost}, with `reference` untouched, if the head or the
    /// directory is broken, and Error{usage} if `left_out` has the wrong size.
    void apply_changes(std::span<const std::uint8_t> bytes, HostView<std::uint8_t> reference, BlockSet& left_out);
    /// Variant for damaged streams. `left_out` is as for apply_changes().
    void apply_picture(std::span<const std::uint8_t> bytes, HostView<std::uint8_t> reference, BlockSet& left_out);
    /// Returns the threshold in the header of the last frame; 0 before the first one.
    int last_threshold() const;
    /// Returns the number of bytes that the last apply_changes() changed; 0 after a keyframe.
    std::uint32_t last_count() const;
    /// Writes the changes of the last apply_changes() to `changes` as an Encoder would: positions, differences and
    /// count. Throws Error{usage} unless `changes` has a capacity for every byte of the frame.
    void last_changes(const ChangesView<MemorySpace::host>& changes) const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Returns an upper bound for the size in bytes of a packed frame of `shape`. Readers reject larger frames.
std::size_t max_packed_bytes(const Shape& shape);

/// Encoder for lossless keyframes. Not thread-safe.
class PicturePacker {
public:
    /// Creates an encoder for pictures of `shape`, whose `frames` must be 1. `pool` is optional and must outlive this
    /// object; its threads share the blocks of each picture.
    PicturePacker(const Shape& shape, const ThreadPool* pool);

    /// Packs `picture` as a keyframe and appends it to `out`. `threshold` (0..254) is only written to the head.
    void pack(HostView<const std::uint8_t> picture, int threshold, std::vector<std::uint8_t>& out);

private:
    BlockGrid grid_;
    const ThreadPool* pool_;
    std::vector<int> blocks_;               // numbers of all blocks of the grid
    std::vector<PictureEncoder> encoders_;  // one per worker
    BlockWriter writer_;
};

/// Thoroughness of the search for the cheapest prediction.
struct Effort {
    int range = 12;  ///< search range in pixels in each direction; 0 to 15
    /// Number of vectors whose cost is computed exactly; at most 8. If 0, nothing is searched: delta frames are
    /// predicted from the same position of the previous picture, and each sample is coded once.
    int candidates = 4;

    /// Maximum level that of() accepts.
    static constexpr int most = 2;
    /// Returns true if predictions are compared by their costs.
    FRAMEWIRE_HOST_DEVICE constexpr bool searches() const { return candidates > 0; }
    /// Returns the effort for the level that a user chose: 0 for no search, 1 for a short one, 2 for a thorough one.
    /// Throws Error{usage} for another level.
    static Effort of(int level);
};

}  // namespace framewire::codec
