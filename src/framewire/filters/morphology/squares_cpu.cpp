#include "framewire/core/simd/simd.hpp"
#include "framewire/filters/morphology/squares.hpp"
#include "framewire/filters/morphology/structuring_element.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/filters/morphology/squares_cpu.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef FRAMEWIRE_SQUARES_CPU_ONCE
#define FRAMEWIRE_SQUARES_CPU_ONCE

namespace framewire {

// A rectangle of one frame's result: some rows, and some bytes of each.
struct SquareTile {
    int frame, y_begin, y_end, byte_begin, byte_end;
};

// Bytes of the largest vectors of all instruction sets, for values that are the same for all of them.
inline constexpr int square_most_lanes = 64;
// The result of the column pass is on the stack: as many rows as the square has. It fits the L1 cache except for large
// squares.
inline constexpr int square_near_bytes = 32 * 1024;
// Narrowest tile.
inline constexpr int square_least_tile_bytes = 768;
// Widest tile.
inline constexpr int square_most_tile_bytes = 6144;
// Vectors read and write this many bytes beyond the end of a row, and start half as many before it.
inline constexpr int square_slack_bytes = 2 * square_most_lanes;

// Distance of two rows in the buffer, for tiles and margins of these widths.
constexpr int square_stride_bytes(int tile_bytes, int rim) {
    return (tile_bytes + 2 * rim + square_slack_bytes * 3 / 2 + square_most_lanes) / square_most_lanes *
           square_most_lanes;
}

inline constexpr int square_buffer_bytes =
    square_most_lanes +
    std::max(square_near_bytes, max_element_px* square_stride_bytes(square_least_tile_bytes, max_element_px / 2 * 3));
// Squares of three process their columns in registers: this many rows, one column of vectors at a time.
inline constexpr int square_rows_together = 16;
// Prefetch distance along a row.
inline constexpr int square_ahead_bytes = 320;

}  // namespace framewire

#endif

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using D8 = hn::ScalableTag<std::uint8_t>;
using V8 = hn::Vec<D8>;
static_assert(HWY_MAX_BYTES <= square_most_lanes);

// The maximum, or the minimum for an erosion.
template <bool erodes>
HWY_INLINE V8 joined(V8 one, V8 other) {
    if constexpr (erodes)
        return hn::Min(one, other);
    else
        return hn::Max(one, other);
}

// Rows of an image, extended by its outermost rows. That is equivalent to a neutral outside, because every window that
// reaches beyond the edge contains the outermost row.
class NearestRows {
public:
    // Rows of one frame.
    NearestRows(HostView<const std::uint8_t> image, int frame) : image_(image), frame_(frame) {}
    // Row y, or the nearest one.
    const std::uint8_t* operator()(int y) const {
        return image_.row(frame_, std::clamp(y, 0, image_.shape().height - 1));
    }

private:
    HostView<const std::uint8_t> image_;
    int frame_;
};

// ---- Squares of three ----

// Joins each byte with its neighbours in the row.
template <bool erodes, int channels>
HWY_INLINE V8 joined_in_row(const std::uint8_t* at) {
    const D8 d8;
    return joined<erodes>(hn::LoadU(d8, at),
                          joined<erodes>(hn::LoadU(d8, at - channels), hn::LoadU(d8, at + channels)));
}

// Computes `count` rows of results, an even number, at column x from `count` + 2 rows.
template <bool erodes, int channels>
HWY_INLINE void join_three(const std::uint8_t* const* rows, std::int64_t x, int count, std::uint8_t* out,
                           std::int64_t out_stride) {
    const D8 d8;
    auto above = joined_in_row<erodes, channels>(rows[0] + x), here = joined_in_row<erodes, channels>(rows[1] + x);
    for (int row = 0; row < count; row += 2) {
        hwy::Prefetch(rows[row + 2] + x + square_ahead_bytes);
        hwy::Prefetch(rows[row + 3] + x + square_ahead_bytes);
        hwy::Prefetch(out + square_ahead_bytes);
        hwy::Prefetch(out + out_stride + square_ahead_bytes);
        const auto below = joined_in_row<erodes, channels>(rows[row + 2] + x);
        const auto next = joined_in_row<erodes, channels>(rows[row + 3] + x);
        const auto both = joined<erodes>(here, below);
        hn::StoreU(joined<erodes>(above, both), d8, out);
        hn::StoreU(joined<erodes>(both, next), d8, out + out_stride);
        above = below;
        here = next;
        out += 2 * out_stride;
    }
}

// Squares of three for one tile.
template <bool erodes, int channels>
void square_of_three(HostView<const std::uint8_t> in, HostView<std::uint8_t> out, const SquareTile& tile) {
    constexpr int most_rows = square_rows_together + 3;
    const NearestRows nearest(in, tile.frame);
    const auto step = static_cast<int>(hn::Lanes(D8()));
    const int row_bytes = static_cast<int>(in.shape().row_bytes());
    const std::uint8_t* rows[most_rows];
    HWY_ALIGN std::uint8_t padded[most_rows][square_most_lanes + 2 * channels];
    HWY_ALIGN std::uint8_t results[square_rows_together][square_most_lanes];
    const std::uint8_t* lines[most_rows];
    for (int row = 0; row < most_rows; ++row) lines[row] = padded[row] + channels;

    // Computes a vector at x from copies, if some of its windows reach beyond the image or if the number of rows is
    // odd.
    const auto join_copies = [&](int x, int y, int height) HWY_ATTR {
        const int first = std::max(x - channels, 0), last = std::min(x + step + channels, row_bytes);
        for (int row = 0; row < height + 2; ++row) {
            std::memset(padded[row], erodes ? 255 : 0, sizeof padded[row]);
            std::memcpy(padded[row] + first - (x - channels), rows[row] + first,
                        static_cast<std::size_t>(last - first));
        }
        join_three<erodes, channels>(lines, 0, (height + 1) / 2 * 2, results[0], square_most_lanes);
        for (int row = 0; row < height; ++row)
            std::memcpy(out.row(tile.frame, y + row) + x, results[row], static_cast<std::size_t>(step));
    };

    for (int y = tile.y_begin; y < tile.y_end; y += square_rows_together) {
        const int height = std::min(square_rows_together, tile.y_end - y);
        for (int row = 0; row < most_rows; ++row) rows[row] = nearest(y - 1 + row);
        for (int x = tile.byte_begin; x < tile.byte_end; x += step) {
            // Recompute some columns instead of handling a partial vector.
            const int from = std::min(x, row_bytes - step);
            if (height % 2 == 0 && from >= channels && from + step + channels <= row_bytes)
                join_three<erodes, channels>(rows, from, height, out.row(tile.frame, y) + from, out.row_stride_bytes());
            else
                join_copies(from, y, height);
        }
    }
}

// ---- Larger squares ----

// One or two adjacent vectors.
struct ColumnVectors {
    V8 first, second;
};

// Column pass for one group of `size` rows of results: columns `begin` to `end` of the image, written to `to`. There
// are 2 * size - 1 rows, starting with the first row of the first window:
//
//   rows 0 .. size-1         running maxima upwards, from row size-1 to each row
//   rows size .. 2*size-2    running maxima downwards, from row size to each row
//   window i                 max of the upward run at row i and the downward run at row i + size - 1
template <bool erodes>
void join_columns(const std::uint8_t* const* rows, int size, int begin, int end, std::uint8_t* to,
                  std::int64_t to_stride) {
    const D8 d8;
    const auto step = static_cast<int>(hn::Lanes(d8));
    // One or two vectors of columns.
    const auto join = [&](int x, auto two) HWY_ATTR {
        constexpr bool both = decltype(two)::value;
        auto* at = to + (x - begin) + (size - 1) * to_stride;
        const auto load = [&](int row) HWY_ATTR {
            const auto* from = rows[row] + x;
            return ColumnVectors{hn::LoadU(d8, from), both ? hn::LoadU(d8, from + step) : hn::Zero(d8)};
        };
        const auto store = [&](const ColumnVectors& pair) HWY_ATTR {
            hn::StoreU(pair.first, d8, at);
            if (both) hn::StoreU(pair.second, d8, at + step);
        };
        const auto add = [&](ColumnVectors& run, const ColumnVectors& other) HWY_ATTR {
            run = {joined<erodes>(run.first, other.first), joined<erodes>(run.second, other.second)};
        };
        // Runs from each row of the first group to its last row.
        auto run = load(size - 1);
        store(run);
        for (int row = size - 2; row >= 0; --row) {
            at -= to_stride;
            add(run, load(row));
            store(run);
        }
        // Runs from the first row of the second group to each of its rows.
        run = load(size);
        for (int row = 1; row < size; ++row) {
            const auto* ahead = rows[size - 1 + row] + x + square_ahead_bytes;
            hwy::Prefetch(ahead);
            if (both) hwy::Prefetch(ahead + step);
            at += to_stride;
            add(run, load(size - 1 + row));
            ColumnVectors window{hn::LoadU(d8, at), both ? hn::LoadU(d8, at + step) : hn::Zero(d8)};
            add(window, run);
            store(window);
        }
    };
    int x = begin;
    for (; x + 2 * step <= end; x += 2 * step) join(x, std::true_type());
    for (; x < end; x += step) join(std::min(x, end - step), std::false_type());
}

// Offsets, in elements, at which runs of `run` pixels make up one of `next`. If fewer are needed, the last one is
// repeated.
struct RunStep {
    int next, offsets[3];
};

// The step from runs of `run` pixels towards `size`: up to four times as long.
inline RunStep step_from(int run, int size, int channels) {
    const int next = std::min(4 * run, size);
    RunStep step{.next = next, .offsets = {}};
    for (int part = 0; part < 3; ++part) step.offsets[part] = std::min((part + 1) * run, next - run) * channels;
    return step;
}

// Joins four runs.
template <bool erodes>
HWY_INLINE V8 joined_runs(const std::uint8_t* at, const RunStep& step) {
    const D8 d8;
    return joined<erodes>(joined<erodes>(hn::LoadU(d8, at), hn::LoadU(d8, at + step.offsets[0])),
                          joined<erodes>(hn::LoadU(d8, at + step.offsets[1]), hn::LoadU(d8, at + step.offsets[2])));
}

// Row pass: `count` results, each the maximum of `size` pixels from its position in `line` on. Overwrites the line.
// Prefetches `next_out`, where a later row of results goes, because the first write to a memory line otherwise waits
// for it.
template <bool erodes>
void join_row(std::uint8_t* line, int size, int channels, int count, std::uint8_t* out, const std::uint8_t* next_out) {
    const D8 d8;
    const auto step = static_cast<int>(hn::Lanes(d8));
    auto runs = step_from(1, size, channels);
    for (; runs.next < size; runs = step_from(runs.next, size, channels)) {
        const int needed = count + (size - runs.next) * channels;
        for (int x = 0; x < needed; x += step) hn::StoreU(joined_runs<erodes>(line + x, runs), d8, line + x);
    }
    int x = 0;
    for (; x + step <= count; x += step) {
        hwy::Prefetch(next_out + x);
        hn::StoreU(joined_runs<erodes>(line + x, runs), d8, out + x);
    }
    if (x == count) return;
    HWY_ALIGN std::uint8_t last[square_most_lanes];
    hn::Store(joined_runs<erodes>(line + x, runs), d8, last);
    std::memcpy(out + x, last, static_cast<std::size_t>(count - x));
}

// Squares of any size for one tile, group by group.
template <bool erodes>
void square_of_any(int radius, HostView<const std::uint8_t> in, HostView<std::uint8_t> out, const SquareTile& tile) {
    HWY_ALIGN std::uint8_t buffer[square_buffer_bytes];
    const NearestRows nearest(in, tile.frame);
    const D8 d8;
    const auto step = static_cast<int>(hn::Lanes(d8));
    const int channels = in.shape().channels, size = 2 * radius + 1, rim = radius * channels;
    const int row_bytes = static_cast<int>(in.shape().row_bytes());
    const int count = tile.byte_end - tile.byte_begin;
    const int line_begin = tile.byte_begin - rim, line_end = tile.byte_end + rim;
    const int end = std::min(line_end, row_bytes), begin = std::clamp(line_begin, 0, end - step);
    const int stride = square_stride_bytes(count, rim);
    // Vectors are aligned at the image's first column.
    auto* const lines =
        buffer + square_most_lanes + (square_most_lanes - (begin - line_begin) % square_most_lanes) % square_most_lanes;

    const std::uint8_t* rows[2 * max_element_px];
    for (int y = tile.y_begin; y < tile.y_end; y += size) {
        for (int row = 0; row < 2 * size - 1; ++row) rows[row] = nearest(y - radius + row);
        join_columns<erodes>(rows, size, begin, end, lines + (begin - line_begin), stride);
        for (int row = 0; row < std::min(size, tile.y_end - y); ++row) {
            auto* line = lines + row * stride;
            std::memset(line, erodes ? 255 : 0, static_cast<std::size_t>(std::max(-line_begin, 0)));
            std::memset(line + (end - line_begin), erodes ? 255 : 0,
                        static_cast<std::size_t>(line_end - end + square_slack_bytes));
            auto* const to = out.row(tile.frame, y + row) + tile.byte_begin;
            // The row after next is prefetched.
            const auto* const next = y + row + 2 < in.shape().height ? to + 2 * out.row_stride_bytes() : to;
            join_row<erodes>(line, size, channels, count, to, next);
        }
    }
}

template <bool erodes>
void square_tile_of(int radius, HostView<const std::uint8_t> in, HostView<std::uint8_t> out, const SquareTile& tile) {
    if (radius > 1)
        square_of_any<erodes>(radius, in, out, tile);
    else if (in.shape().channels == 3)
        square_of_three<erodes, 3>(in, out, tile);
    else
        square_of_three<erodes, 1>(in, out, tile);
}

}  // namespace

// Chooses the direction at compile time.
void square_tile(bool erodes, int radius, HostView<const std::uint8_t> in, HostView<std::uint8_t> out,
                 const SquareTile& tile) {
    if (erodes)
        square_tile_of<true>(radius, in, out, tile);
    else
        square_tile_of<false>(radius, in, out, tile);
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire {
namespace {

HWY_EXPORT(square_tile);

}  // namespace

bool square_fits(const Shape& shape) { return shape.row_bytes() >= square_most_lanes; }

void dilate_by_square(bool erodes, int radius, HostView<const std::uint8_t> in, HostView<std::uint8_t> out,
                      const ThreadPool& pool) {
    const auto& shape = in.shape();
    const auto parts = [](std::int64_t whole, std::int64_t part) { return (whole + part - 1) / part; };
    const int size = 2 * radius + 1;
    // As many whole vectors of columns as keep the rows' strides, rounded up by less than one vector, within
    // square_near_bytes.
    const std::int64_t near_vectors =
        (square_near_bytes / size - square_stride_bytes(0, radius * shape.channels)) / square_most_lanes - 1;
    const auto most_bytes =
        std::clamp<std::int64_t>(near_vectors * square_most_lanes, square_least_tile_bytes, square_most_tile_bytes);
    const auto tile_bytes =
        parts(parts(shape.row_bytes(), parts(shape.row_bytes(), most_bytes)), square_most_lanes) * square_most_lanes;
    const auto columns = parts(shape.row_bytes(), tile_bytes);
    // Whole groups of rows. Four tiles per thread balance the load if other processes slow a core down.
    const int group = radius > 1 ? size : square_rows_together;
    const auto wanted = parts(4 * pool.threads(), shape.frames * columns);
    const auto tile_rows = parts(parts(shape.height, wanted), group) * group;
    const auto bands = parts(shape.height, tile_rows);
    pool.for_chunks(shape.frames * bands * columns, 1, [&](std::int64_t index, std::int64_t, std::int64_t) {
        const auto byte_begin = index % columns * tile_bytes, y_begin = index / columns % bands * tile_rows;
        HWY_DYNAMIC_DISPATCH(square_tile)
        (erodes, radius, in, out,
         {.frame = static_cast<int>(index / columns / bands),
          .y_begin = static_cast<int>(y_begin),
          .y_end = static_cast<int>(std::min<std::int64_t>(y_begin + tile_rows, shape.height)),
          .byte_begin = static_cast<int>(byte_begin),
          .byte_end = static_cast<int>(std::min(byte_begin + tile_bytes, shape.row_bytes()))});
    });
}

}  // namespace framewire

#endif
