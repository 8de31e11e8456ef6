#include "framewire/filters/pixel_moves.hpp"
#include "framewire/core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/filters/pixel_moves.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/cache_control.h>

#include <algorithm>
#include <cstring>

// Moves on the CPU. Maps that are not transposed copy runs of whole rows, forwards or mirrored; write_transposed()
// handles transposed maps.

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Takes vectors from the end of the row and reverses each; channels of BGR are reversed separately.
template <int channels>
void mirror_pixels(const std::uint8_t* in, std::int64_t pixels, std::uint8_t* out) {
    const hn::ScalableTag<std::uint8_t> d8;
    const auto step = static_cast<std::int64_t>(hn::Lanes(d8));
    HWY_ALIGN static constexpr std::uint8_t last_first[16] = {15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
    const auto order = hn::LoadDup128(d8, last_first);
    const auto reversed = [&](hn::VFromD<decltype(d8)> bytes)
                              HWY_ATTR { return hn::ReverseBlocks(d8, hn::TableLookupBytes(bytes, order)); };
    std::int64_t x = 0;
    for (; x + step <= pixels; x += step) {
        const auto* from = in + channels * (pixels - x - step);
        auto* to = out + channels * x;
        if constexpr (channels == 3) {
            hn::VFromD<decltype(d8)> b, g, r;
            hn::LoadInterleaved3(d8, from, b, g, r);
            hn::StoreInterleaved3(reversed(b), reversed(g), reversed(r), d8, to);
        } else {
            hn::StoreU(reversed(hn::LoadU(d8, from)), d8, to);
        }
    }
    for (; x < pixels; ++x)
        for (int channel = 0; channel < channels; ++channel)
            out[channels * x + channel] = in[channels * (pixels - 1 - x) + channel];
}

}  // namespace

// Copies the pixels of a row in reverse order.
void mirror_row(const std::uint8_t* in, int channels, std::int64_t pixels, std::uint8_t* out) {
    channels == 3 ? mirror_pixels<3>(in, pixels, out) : mirror_pixels<1>(in, pixels, out);
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "framewire/filters/window.hpp"

namespace framewire {

HWY_EXPORT(mirror_row);

namespace {

// Writes rows of a result whose map is not transposed.
struct MovedRow {
    // Map from result to image.
    const PixelMap& map;
    const Shape& from;
    const Shape& to;
    // A row of the outside colour.
    const std::uint8_t* outside;

    // Writes row `to_y` of the result; `row(y)` returns a row of the image.
    template <class Row>
    void write(int to_y, Row&& row, std::uint8_t* out) const {
        const int y = map.source_y(0, to_y), channels = to.channels;
        const auto bytes = [&](int pixels) { return static_cast<std::size_t>(pixels * channels); };
        if (y < 0 || y >= from.height) {
            std::memcpy(out, outside, bytes(to.width));
            return;
        }
        const bool mirrored = map.step_x < 0;
        // Range of the row's pixels whose source lies inside the image.
        const int first = std::clamp(mirrored ? map.x - from.width + 1 : -map.x, 0, to.width);
        const int last = std::clamp(mirrored ? map.x + 1 : from.width - map.x, first, to.width);
        if (first > 0) std::memcpy(out, outside, bytes(first));
        if (last < to.width) std::memcpy(out + bytes(last), outside, bytes(to.width - last));
        if (first == last) return;
        const auto* in = row(y) + map.source_x(mirrored ? last - 1 : first, 0) * channels;
        if (mirrored)
            HWY_DYNAMIC_DISPATCH(mirror_row)(in, channels, last - first, out + bytes(first));
        else
            std::memcpy(out + bytes(first), in, bytes(last - first));
    }
};

}  // namespace

// Prepares a row of the outside colour, from which parts of rows are copied.
PixelMoves::PixelMoves(const PixelMap& map, Pixel outside, const Shape& from, const Shape& to, Executor& executor)
    : map_(map), outside_(outside), from_(from), to_(to), executor_(&executor) {
    validate(from, "the image");
    validate(to, "the result");
    if (map.transposed && !is_inside(map, from, to))
        fail(ErrorCode::internal, "an image of {} cannot be transposed to {}", to_string(from), to_string(to));
    if (executor.backend() != Backend::cpu) return;
    outside_row_ = HostBuffer(static_cast<std::size_t>(to.row_bytes()));
    for (int x = 0; x < to.width; ++x) store_pixel(outside, to.channels, outside_row_.data() + x * to.channels);
}

// Divides transposed results into bands of transposed_rows, others into chunks of rows.
void PixelMoves::run(const FilterImages<MemorySpace::host>& images) const {
    validate(images.in, from_, "the image");
    validate(images.out, to_, "the result");
    const auto& pool = executor_->pool();
    if (map_.transposed) {
        const std::int64_t bands = (to_.height + transposed_rows - 1) / transposed_rows;
        pool.for_chunks(to_.frames * bands, 1, [&](std::int64_t index, std::int64_t, std::int64_t) {
            const int frame = static_cast<int>(index / bands), y = static_cast<int>(index % bands) * transposed_rows;
            const int y_end = std::min(y + transposed_rows, to_.height);
            write_transposed(map_, images.in, images.out, frame, y, y_end);
        });
        return;
    }
    const MovedRow moved{map_, from_, to_, outside_row_.data()};
    const auto rows_each = std::max<std::int64_t>(span_bytes / to_.row_bytes(), 1);
    pool.for_chunks(to_.rows(), rows_each, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        for (auto index = begin; index < end; ++index) {
            const int frame = static_cast<int>(index / to_.height), y = static_cast<int>(index % to_.height);
            moved.write(
                y, [&](int from_y) { return images.in.row(frame, from_y); }, images.out.row(frame, y));
        }
    });
}

bool PixelMoves::works_by_rows() const {
    return executor_->backend() == Backend::cpu && to_.frames == 1 && !map_.transposed;
}

RowRange PixelMoves::rows_needed(const RowRange& made) const {
    const int one = map_.source_y(0, made.begin), other = map_.source_y(0, made.end - 1);
    // Rows that show only the outside colour need no row of the image, but a range has at least one row.
    const auto held = [&](int y) { return std::clamp(y, 0, from_.height - 1); };
    return {held(std::min(one, other)), held(std::max(one, other)) + 1};
}

void PixelMoves::run_rows(const ImageRows<const std::uint8_t>& in, const ImageRows<std::uint8_t>& out) const {
    validate_rows(in, from_, "the input rows");
    validate_rows(out, to_, "the output rows");
    const MovedRow moved{map_, from_, to_, outside_row_.data()};
    for (int y = out.range().begin; y < out.range().end; ++y)
        moved.write(
            y, [&](int from_y) { return in.row(from_y); }, out.row(y));
}

}  // namespace framewire

#endif

// Compiled once, not for each instruction set. Transposes in blocks that fit the vector registers:
//
//   BGR    4 x 4 pixels, widened to one 32-bit word per pixel, transposed by interleaving words
//   gray   16 x 16 bytes in four rounds of interleaving, collected in a 64 x 64 tile
//
// For a mirrored source (step_x = -1), the rows of a block are stored in reverse order. Pixels that do not fill a block
// are copied one by one.
#ifndef FRAMEWIRE_TRANSPOSED_ROWS_ONCE
#define FRAMEWIRE_TRANSPOSED_ROWS_ONCE

namespace framewire {

// Largest side of a one-channel tile.
constexpr int gray_tile = 64;
static_assert(gray_tile == transposed_rows);

// A rectangle of a transposed result.
struct TransposedTile {
    int x_begin, x_end, y_begin, y_end;
};

}  // namespace framewire

#endif

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using FourPixels = hn::Full128<std::uint8_t>;
using FourWords = hn::Full128<std::uint32_t>;

// Loads four BGR pixels of a row, one per 32-bit word. Also reads the four bytes after the pixels.
HWY_INLINE hn::Vec<FourWords> load_four(const std::uint8_t* from) {
    constexpr std::uint8_t none = 0x80;
    HWY_ALIGN static constexpr std::uint8_t words[16] = {0, 1, 2, none, 3, 4, 5, none, 6, 7, 8, none, 9, 10, 11, none};
    const FourPixels d8;
    return hn::BitCast(FourWords(), hn::TableLookupBytesOr0(hn::LoadU(d8, from), hn::Load(d8, words)));
}

// Stores four pixels of load_four() as 12 bytes, and nothing beyond.
HWY_INLINE void store_four(hn::Vec<FourWords> pixels, std::uint8_t* to) {
    HWY_ALIGN static constexpr std::uint8_t without_fourth[16] = {0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 3, 7, 11, 15};
    const FourPixels d8;
    HWY_ALIGN std::uint8_t bytes[16];
    hn::Store(hn::TableLookupBytes(hn::BitCast(d8, pixels), hn::Load(d8, without_fourth)), d8, bytes);
    std::memcpy(to, bytes, 12);
}

// Transposes sixteen rows of sixteen bytes.
HWY_INLINE void transpose_block(hn::Vec<FourPixels> (&rows)[16]) {
    const FourPixels d8;
// If a byte's row and column are taken as one number, each round rotates its bits left by one, so four rounds exchange
// row and column.
#pragma GCC unroll 4
    for (int turn = 0; turn < 4; ++turn) {
        hn::Vec<FourPixels> turned[16];
#pragma GCC unroll 8
        for (int row = 0; row < 8; ++row) {
            turned[2 * row] = hn::InterleaveLower(d8, rows[row], rows[row + 8]);
            turned[2 * row + 1] = hn::InterleaveUpper(d8, rows[row], rows[row + 8]);
        }
        std::copy(turned, turned + 16, rows);
    }
}

}  // namespace

// Writes a tile whose width and height are multiples of four. The four bytes after every four pixels that the tile
// reads must be readable.
void transpose_bgr(const PixelMap& map, HostView<const std::uint8_t> in, HostView<std::uint8_t> out, int frame,
                   const TransposedTile& tile) {
    const FourWords d;
    const hn::Full128<std::uint64_t> d64;
    const bool mirrored = map.step_x < 0;
    for (int y = tile.y_begin; y < tile.y_end; y += 4) {
        // The leftmost of the four source columns; mirrored maps store the rows in reverse order.
        const auto at = 3 * std::int64_t{map.source_x(0, mirrored ? y + 3 : y)};
        std::uint8_t* rows[4];
        for (int row = 0; row < 4; ++row) rows[row] = out.row(frame, mirrored ? y + 3 - row : y + row);
        for (int x = tile.x_begin; x < tile.x_end; x += 4) {
            const auto column = [&](int index)
                                    HWY_ATTR { return load_four(in.row(frame, map.source_y(x + index, 0)) + at); };
            const auto p0 = column(0), p1 = column(1), p2 = column(2), p3 = column(3);
            const auto lower_01 = hn::BitCast(d64, hn::InterleaveLower(d, p0, p1)),
                       upper_01 = hn::BitCast(d64, hn::InterleaveUpper(d, p0, p1)),
                       lower_23 = hn::BitCast(d64, hn::InterleaveLower(d, p2, p3)),
                       upper_23 = hn::BitCast(d64, hn::InterleaveUpper(d, p2, p3));
            store_four(hn::BitCast(d, hn::InterleaveLower(d64, lower_01, lower_23)), rows[0] + 3 * x);
            store_four(hn::BitCast(d, hn::InterleaveUpper(d64, lower_01, lower_23)), rows[1] + 3 * x);
            store_four(hn::BitCast(d, hn::InterleaveLower(d64, upper_01, upper_23)), rows[2] + 3 * x);
            store_four(hn::BitCast(d, hn::InterleaveUpper(d64, upper_01, upper_23)), rows[3] + 3 * x);
        }
    }
}

// Writes a tile of one channel that is at least sixteen wide and high, and at most gray_tile high. The last block of a
// row or column overlaps the previous one if necessary.
void transpose_gray(const PixelMap& map, HostView<const std::uint8_t> in, HostView<std::uint8_t> out, int frame,
                    const TransposedTile& tile) {
    const FourPixels d8;
    const bool mirrored = map.step_x < 0;
    const int rows = tile.y_end - tile.y_begin;
    // The tile is collected here, so that the result is written in whole cache lines.
    HWY_ALIGN std::uint8_t turned[gray_tile][gray_tile];
    for (int next_x = tile.x_begin; next_x < tile.x_end; next_x += gray_tile) {
        // The last tile is moved left, so that it is as wide as the others.
        const int x_begin = std::max(std::min(next_x, tile.x_end - gray_tile), tile.x_begin);
        const int columns = std::min(tile.x_end - x_begin, gray_tile);
        for (int next_column = 0; next_column < columns; next_column += 16) {
            const int column = std::min(next_column, columns - 16);
            const auto from = [&](int index) { return in.row(frame, map.source_y(x_begin + column + index, 0)); };
            // Prefetch the rows of the next block to the right.
            const int ahead = std::min(16, tile.x_end - 16 - x_begin - column);
            for (int index = 0; index < 16; ++index)
                hwy::Prefetch(from(index + ahead) + map.source_x(0, mirrored ? tile.y_end - 1 : tile.y_begin));
            for (int next_row = 0; next_row < rows; next_row += 16) {
                const int row = std::min(next_row, rows - 16), y = tile.y_begin + row;
                const auto at = map.source_x(0, mirrored ? y + 15 : y);
                hn::Vec<FourPixels> block[16];
                for (int index = 0; index < 16; ++index) block[index] = hn::LoadU(d8, from(index) + at);
                transpose_block(block);
                for (int index = 0; index < 16; ++index)
                    hn::StoreU(block[index], d8, turned[mirrored ? row + 15 - index : row + index] + column);
            }
        }
        for (int row = 0; row < rows; ++row)
            std::memcpy(out.row(frame, tile.y_begin + row) + x_begin, turned[row], static_cast<std::size_t>(columns));
    }
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire {

HWY_EXPORT(transpose_bgr);
HWY_EXPORT(transpose_gray);

namespace {

// Writes any tile, pixel by pixel.
template <int channels>
void transpose_pixels(const PixelMap& map, HostView<const std::uint8_t> in, HostView<std::uint8_t> out, int frame,
                      const TransposedTile& tile) {
    for (int x = tile.x_begin; x < tile.x_end; ++x) {
        const auto* from = in.row(frame, map.source_y(x, 0)) + map.source_x(0, tile.y_begin) * channels;
        auto* to = out.row(frame, tile.y_begin) + x * channels;
        for (int y = tile.y_begin; y < tile.y_end; ++y) {
            for (int channel = 0; channel < channels; ++channel) to[channel] = from[channel];
            from += map.step_x * channels;
            to += out.row_stride_bytes();
        }
    }
}

// Columns of BGR per tile of transposed_rows rows, chosen so that the parts of both images stay in the L1 cache.
constexpr int transposed_columns = 32;

// Splits rows y_begin to y_end - 1 into tiles: multiples of four for the vectors, the remainder for single pixels.
void write_transposed_bgr(const PixelMap& map, HostView<const std::uint8_t> in, HostView<std::uint8_t> out, int frame,
                          int y_begin, int y_end) {
    // Rows that come from the image's last columns are copied pixel by pixel, because vectors read beyond their pixels.
    const int last = in.shape().width - 2, width = out.shape().width;
    const auto is_read = [&](int y) { return std::max(map.source_x(0, y), map.source_x(0, y + 3)) < last; };
    int fours_begin = y_begin;
    while (fours_begin + 4 <= y_end && !is_read(fours_begin)) ++fours_begin;
    int fours_end = fours_begin;
    while (fours_end + 4 <= y_end && is_read(fours_end)) fours_end += 4;
    for (int x_begin = 0; x_begin < width; x_begin += transposed_columns) {
        const int x_end = std::min(x_begin + transposed_columns, width);
        const int fours_x_end = x_end - (x_end - x_begin) % 4;
        HWY_DYNAMIC_DISPATCH(transpose_bgr)(map, in, out, frame, {x_begin, fours_x_end, fours_begin, fours_end});
        transpose_pixels<3>(map, in, out, frame, {fours_x_end, x_end, fours_begin, fours_end});
        transpose_pixels<3>(map, in, out, frame, {x_begin, x_end, y_begin, fours_begin});
        transpose_pixels<3>(map, in, out, frame, {x_begin, x_end, fours_end, y_end});
    }
}

}  // namespace

// Chooses the loop: vectors for BGR and for gray images that are large enough, otherwise single pixels.
void write_transposed(const PixelMap& map, HostView<const std::uint8_t> in, HostView<std::uint8_t> out, int frame,
                      int y_begin, int y_end) {
    const TransposedTile all{0, out.shape().width, y_begin, y_end};
    if (out.shape().channels == 3)
        write_transposed_bgr(map, in, out, frame, y_begin, y_end);
    else if (all.x_end >= 16 && y_end - y_begin >= 16)
        HWY_DYNAMIC_DISPATCH(transpose_gray)(map, in, out, frame, all);
    else
        transpose_pixels<1>(map, in, out, frame, all);
}

}  // namespace framewire

#endif
