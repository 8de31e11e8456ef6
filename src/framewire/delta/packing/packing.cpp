#include "framewire/delta/packing/packing.hpp"

#include "framewire/core/error.hpp"
#include "framewire/delta/runs.hpp"

#include <zstd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>

namespace framewire::delta {
namespace {

constexpr int changes_level = 3;  // small bodies: worth the better ratio
constexpr int picture_level = 1;  // megabytes at once: must not hold up the stream
constexpr std::int64_t block_bytes = 64;

std::int64_t blocks_of(const Shape& shape) { return (shape.frame_bytes() + block_bytes - 1) / block_bytes; }
std::int64_t bitmap_bytes(const Shape& shape) { return (blocks_of(shape) + 7) / 8; }

// The parts of a body of changes, before zstd: see format.md.
std::size_t max_changes_body_bytes(const Shape& shape) {
    return static_cast<std::size_t>(4 + bitmap_bytes(shape) + 8 * blocks_of(shape) + shape.frame_bytes());
}

void put_u32(std::uint8_t* at, std::uint32_t value) {
    for (int byte = 0; byte < 4; ++byte) at[byte] = static_cast<std::uint8_t>(value >> (8 * byte));
}
std::uint32_t get_u32(const std::uint8_t* at) {
    return at[0] | std::uint32_t{at[1]} << 8 | std::uint32_t{at[2]} << 16 | std::uint32_t{at[3]} << 24;
}
void put_u64(std::uint8_t* at, std::uint64_t value) {
    put_u32(at, static_cast<std::uint32_t>(value));
    put_u32(at + 4, static_cast<std::uint32_t>(value >> 32));
}
std::uint64_t get_u64(const std::uint8_t* at) { return get_u32(at) | std::uint64_t{get_u32(at + 4)} << 32; }

void check_one_frame(const Shape& shape, const char* what) {
    validate(shape, what);
    if (shape.frames != 1)
        fail(ErrorCode::usage, "{} is a batch of {}; streams are packed one by one", what, shape.frames);
}

struct FreeCompressor {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};
struct FreeDecompressor {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

[[noreturn]] void broken(const char* what) { fail(ErrorCode::source_lost, "broken stream: {}", what); }

}  // namespace

std::size_t max_packed_bytes(const Shape& shape) { return ZSTD_compressBound(max_changes_body_bytes(shape)); }

struct Packer::State {
    Shape shape;
    HostBuffer body;
    std::unique_ptr<ZSTD_CCtx, FreeCompressor> zstd{ZSTD_createCCtx()};

    explicit State(const Shape& of) : shape(of), body(max_changes_body_bytes(of)) {
        if (!zstd) fail(ErrorCode::config, "no memory for the packer");
    }

    void compress(std::size_t body_size, int level, std::vector<std::uint8_t>& out) {
        const auto begin = out.size();
        out.resize(begin + ZSTD_compressBound(body_size));
        const auto size =
            ZSTD_compressCCtx(zstd.get(), out.data() + begin, out.size() - begin, body.data(), body_size, level);
        if (ZSTD_isError(size)) fail(ErrorCode::internal, "zstd: {}", ZSTD_getErrorName(size));
        out.resize(begin + size);
    }
};

Packer::Packer(const Shape& shape) {
    check_one_frame(shape, "the packer's frame");
    state_ = std::make_unique<State>(shape);
}
Packer::~Packer() = default;
Packer::Packer(Packer&&) noexcept = default;
Packer& Packer::operator=(Packer&&) noexcept = default;

void Packer::pack_changes(const ChangesView<MemorySpace::host>& changes, std::vector<std::uint8_t>& out) {
    validate_found(changes, state_->shape, "the packer's changes");
    const auto count = changes.summaries[0].count;
    if (std::int64_t{count} > std::min(changes.capacity, state_->shape.frame_bytes()))
        fail(ErrorCode::usage, "{} changes in room for {}, of a frame of {} bytes", count, changes.capacity,
             state_->shape.frame_bytes());
    auto* bitmap = state_->body.data() + 4;
    auto* end = bitmap + bitmap_bytes(state_->shape);
    put_u32(state_->body.data(), count);
    std::fill(bitmap, end, std::uint8_t{0});
    for (std::uint32_t i = 0; i < count;) {
        const auto block = changes.positions[i] / block_bytes;
        std::uint64_t mask = 0;
        for (; i < count && changes.positions[i] / block_bytes == block; ++i)
            mask |= std::uint64_t{1} << (changes.positions[i] % block_bytes);
        bitmap[block / 8] = static_cast<std::uint8_t>(bitmap[block / 8] | 1 << (block % 8));
        put_u64(end, mask);
        end += 8;
    }
    std::memcpy(end, changes.differences, count);
    end += count;
    state_->compress(static_cast<std::size_t>(end - state_->body.data()), changes_level, out);
}

void Packer::pack_picture(HostView<const std::uint8_t> picture, std::vector<std::uint8_t>& out) {
    const auto& shape = state_->shape;
    validate(picture, shape, "the packer's picture");
    auto* to = state_->body.data();
    for (int y = 0; y < shape.height; ++y, to += shape.row_bytes()) {
        const auto* row = picture.row(0, y);
        std::copy_n(row, shape.channels, to);
        for (std::int64_t x = shape.channels; x < shape.row_bytes(); ++x)
            to[x] = static_cast<std::uint8_t>(row[x] - row[x - shape.channels]);
    }
    state_->compress(static_cast<std::size_t>(shape.frame_bytes()), picture_level, out);
}

struct Unpacker::State {
    Shape shape;
    HostBuffer body;
    std::uint32_t last_count = 0;    // of the changes in the body
    std::size_t differences_at = 0;  // in the body, of those changes
    std::unique_ptr<ZSTD_DCtx, FreeDecompressor> zstd{ZSTD_createDCtx()};

    explicit State(const Shape& of) : shape(of), body(max_changes_body_bytes(of)) {
        if (!zstd) fail(ErrorCode::config, "no memory for the unpacker");
    }

    std::size_t decompress(std::span<const std::uint8_t> bytes) {
        last_count = 0;  // until the new body is found whole
        const auto size = ZSTD_decompressDCtx(zstd.get(), body.data(), body.bytes(), bytes.data(), bytes.size());
        if (ZSTD_isError(size)) broken(ZSTD_getErrorName(size));
        return size;
    }
};

Unpacker::Unpacker(const Shape& shape) {
    check_one_frame(shape, "the unpacker's frame");
    state_ = std::make_unique<State>(shape);
}
Unpacker::~Unpacker() = default;
Unpacker::Unpacker(Unpacker&&) noexcept = default;
Unpacker& Unpacker::operator=(Unpacker&&) noexcept = default;

namespace {

// Calls body(position, mask) for every block with changes: where it begins, and which of its bytes change. The masks
// lie one after the other from `masks` on.
template <class Body>
void for_each_block(const Shape& shape, const std::uint8_t* bitmap, const std::uint8_t* masks, Body&& body) {
    for (std::int64_t at = 0; at < bitmap_bytes(shape); ++at)
        for (auto blocks = static_cast<std::uint32_t>(bitmap[at]); blocks; blocks &= blocks - 1) {
            body((at * 8 + std::countr_zero(blocks)) * block_bytes, get_u64(masks));
            masks += 8;
        }
}

// Adds the differences of one block to the bytes of the picture that `mask` names, and returns those that are left. A
// block that changes as a whole, within a row, is what moves are made of.
const std::uint8_t* add_block(std::int64_t position, std::uint64_t mask, const std::uint8_t* differences,
                              HostView<std::uint8_t> to) {
    const auto row_bytes = to.shape().row_bytes();
    const auto y = static_cast<int>(position / row_bytes);
    const auto x = position % row_bytes;
    auto* bytes = to.row(0, y) + x;
    if (x + block_bytes > row_bytes) {
        for (; mask; mask &= mask - 1) {
            const auto at = position + std::countr_zero(mask);
            auto& byte = to.row(0, static_cast<int>(at / row_bytes))[at % row_bytes];
            byte = static_cast<std::uint8_t>(byte + *differences++);
        }
        return differences;
    }
    if (mask == ~std::uint64_t{0}) {
        add_run<block_bytes>(differences, bytes);
        return differences + block_bytes;
    }
    while (mask) {
        const auto begin = std::countr_zero(mask), end = begin + std::countr_one(mask >> begin);
        for (auto at = begin; at < end; ++at) bytes[at] = static_cast<std::uint8_t>(bytes[at] + *differences++);
        mask = end == block_bytes ? 0 : mask >> end << end;
    }
    return differences;
}

}  // namespace

std::uint32_t Unpacker::last_count() const { return state_->last_count; }

void Unpacker::last_changes(const ChangesView<MemorySpace::host>& changes) const {
    const auto& shape = state_->shape;
    validate(changes, shape, "the unpacker's changes");
    changes.summaries[0] = {.count = state_->last_count};
    if (state_->last_count == 0) return;
    const auto* bitmap = state_->body.data() + 4;
    auto* position = changes.positions;
    for_each_block(shape, bitmap, bitmap + bitmap_bytes(shape), [&](std::int64_t at, std::uint64_t mask) {
        for (; mask; mask &= mask - 1) *position++ = static_cast<std::uint32_t>(at + std::countr_zero(mask));
    });
    std::memcpy(changes.differences, state_->body.data() + state_->differences_at, state_->last_count);
}

void Unpacker::apply_changes(std::span<const std::uint8_t> bytes, HostView<std::uint8_t> reference) {
    const auto& shape = state_->shape;
    validate(reference, shape, "the unpacker's reference");
    const auto size = static_cast<std::int64_t>(state_->decompress(bytes));
    const auto head_bytes = 4 + bitmap_bytes(shape);
    if (size < head_bytes) broken("changes end within their bitmap");
    const auto count = std::int64_t{get_u32(state_->body.data())};
    const auto* bitmap = state_->body.data() + 4;
    const auto* masks = bitmap + bitmap_bytes(shape);
    std::int64_t blocks = 0, last_block = -1;
    for (std::int64_t at = 0; at < bitmap_bytes(shape); ++at)
        if (bitmap[at]) {
            blocks += std::popcount(bitmap[at]);
            last_block = at * 8 + std::bit_width(bitmap[at]) - 1;
        }
    if (last_block >= blocks_of(shape)) broken("a block lies outside the frame");
    if (count > shape.frame_bytes() || size != head_bytes + 8 * blocks + count)
        broken("changes are of the wrong length");
    std::int64_t bits = 0, last_position = -1;
    for (std::int64_t block = 0; block < blocks; ++block) bits += std::popcount(get_u64(masks + 8 * block));
    if (blocks > 0) last_position = last_block * block_bytes + std::bit_width(get_u64(masks + 8 * (blocks - 1))) - 1;
    if (bits != count) broken("as many differences as changes are needed");
    if (last_position >= shape.frame_bytes()) broken("a change lies outside the frame");

    const auto* difference = masks + 8 * blocks;
    for_each_block(shape, bitmap, masks, [&](std::int64_t position, std::uint64_t mask) {
        difference = add_block(position, mask, difference, reference);
    });
    state_->last_count = static_cast<std::uint32_t>(count);
    state_->differences_at = static_cast<std::size_t>(size - count);
}

void Unpacker::apply_picture(std::span<const std::uint8_t> bytes, HostView<std::uint8_t> reference) {
    const auto& shape = state_->shape;
    validate(reference, shape, "the unpacker's reference");
    if (static_cast<std::int64_t>(state_->decompress(bytes)) != shape.frame_bytes())
        broken("a picture is of the wrong length");
    const auto* from = state_->body.data();
    for (int y = 0; y < shape.height; ++y, from += shape.row_bytes()) {
        auto* row = reference.row(0, y);
        std::copy_n(from, shape.channels, row);
        for (std::int64_t x = shape.channels; x < shape.row_bytes(); ++x)
            row[x] = static_cast<std::uint8_t>(row[x - shape.channels] + from[x]);
    }
}

}  // namespace framewire::delta
