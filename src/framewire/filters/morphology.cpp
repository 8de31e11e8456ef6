#include "framewire/filters/morphology.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/parameter_fields.hpp"
#include "framewire/core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/filters/morphology.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <fmt/ranges.h>
#include <hwy/cache_control.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

// Dilation on the CPU by the steps of an element, in tiles. Two rows of results are computed together, because all but
// two of the rows that they read are the same.

#ifndef FRAMEWIRE_MORPHOLOGY_CPU_ONCE
#define FRAMEWIRE_MORPHOLOGY_CPU_ONCE

namespace framewire {

// A tile's working memory is on the stack and fits the L1 cache for elements of usual size. Its rows are contiguous.
// Each is a whole number of vectors long and includes as many bytes on both sides as the element reads, so bytes that
// shifts bring in from other rows never reach the result.
inline constexpr int morphology_tile_rows = 16;
// Longest row of a tile, including its margins.
inline constexpr int morphology_stride_bytes = 768;
// Shifts read this many bytes before the first row and after the last.
inline constexpr int morphology_slack_bytes = 192;

// Position and size of a tile in a frame.
struct MorphologyTile {
    int frame, y_begin, rows, byte_begin, bytes;
};

// Images of one phase.
struct MorphologyPhase {
    HostView<const std::uint8_t> in;
    HostView<std::uint8_t> out;
};

}  // namespace framewire

#endif

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using D8 = hn::ScalableTag<std::uint8_t>;
using V8 = hn::Vec<D8>;

// Copies bytes `begin` to `begin + count` - 1 of a row to `out`. Bytes outside the row become `neutral`, and all bytes
// do if `row` is null.
void load_row(const std::uint8_t* row, int row_bytes, int begin, int count, std::uint8_t neutral, std::uint8_t* out) {
    const int first = row ? std::clamp(-begin, 0, count) : count, last = std::clamp(row_bytes - begin, first, count);
    std::memset(out, neutral, static_cast<std::size_t>(first));
    const D8 d8;
    const auto step = static_cast<int>(hn::Lanes(d8));
    int at = first;
    for (; at + step <= last; at += step) {
        hwy::Prefetch(row + begin + count + at);  // the next tile is the one to the right
        hn::StoreU(hn::LoadU(d8, row + begin + at), d8, out + at);
    }
    if (at < last) std::memcpy(out + at, row + begin + at, static_cast<std::size_t>(last - at));
    std::memset(out + last, neutral, static_cast<std::size_t>(count - last));
}

// Returns the maximum, or the minimum for an erosion.
template <bool erodes>
HWY_INLINE V8 join(V8 one, V8 other) {
    if constexpr (erodes)
        return hn::Min(one, other);
    else
        return hn::Max(one, other);
}

// Vectors at the same position in two consecutive rows.
struct VectorPair {
    V8 first, second;
};

// Joins each of the two vectors with those at distances rows_begin to rows_end - 1 above and below it. The rows that
// the first vector needs are also those of the second, except for one on each side, so each row is loaded once.
template <bool erodes>
HWY_INLINE void join_rows(VectorPair& joined, const std::uint8_t* at, int rows_begin, int rows_end,
                          std::int64_t stride) {
    const D8 d8;
    const auto* up = at - (rows_begin - 1) * stride;
    const auto* down = at + rows_begin * stride;
    auto above = hn::LoadU(d8, up), below = hn::LoadU(d8, down);
    for (int row = rows_begin; row < rows_end; ++row) {
        up -= stride;
        down += stride;
        const auto next_above = hn::LoadU(d8, up), next_below = hn::LoadU(d8, down);
        joined.first = join<erodes>(joined.first, join<erodes>(next_above, below));
        joined.second = join<erodes>(joined.second, join<erodes>(above, next_below));
        above = next_above;
        below = next_below;
    }
}

// Returns a vector joined with those `shift` bytes to its left and right.
template <bool erodes>
HWY_INLINE V8 join_beside(const std::uint8_t* at, int shift) {
    const D8 d8;
    return join<erodes>(hn::LoadU(d8, at), join<erodes>(hn::LoadU(d8, at - shift), hn::LoadU(d8, at + shift)));
}

// Runs the steps on one tile. Each step reads one buffer and writes the other.
template <bool erodes>
void morphology_tile_of(const DilationSteps& steps, const MorphologyPhase& phase, const MorphologyTile& tile) {
    constexpr int most_rows = morphology_tile_rows + max_element_px - 1;
    HWY_ALIGN std::uint8_t source[most_rows * morphology_stride_bytes];
    HWY_ALIGN std::uint8_t buffers[2][morphology_tile_rows * morphology_stride_bytes + 2 * morphology_slack_bytes];

    const auto& shape = phase.in.shape();
    const int radius = steps.radius, channels = shape.channels, rim = radius * channels;
    const D8 d8;
    const auto step = static_cast<int>(hn::Lanes(d8));
    const int stride = (tile.bytes + 2 * rim + step - 1) / step * step;
    const int rows = (tile.rows + 1) / 2 * 2;
    for (int row = 0; row < rows + 2 * radius; ++row) {
        const int y = tile.y_begin - radius + row;
        load_row(y >= 0 && y < shape.height ? phase.in.row(tile.frame, y) : nullptr,
                 static_cast<int>(shape.row_bytes()), tile.byte_begin - rim, stride, erodes ? 255 : 0,
                 source + row * stride);
    }
    // Bytes read before the first row and after the last do not affect the result, but keep them initialised.
    for (auto& buffer : buffers) {
        std::memset(buffer, 0, morphology_slack_bytes);
        std::memset(buffer + morphology_slack_bytes + rows * stride, 0, morphology_slack_bytes);
    }

    // First row of the tile's results in the source.
    const auto* middle = source + radius * stride;
    auto *from = buffers[0] + morphology_slack_bytes, *to = buffers[1] + morphology_slack_bytes;
    // Computes two rows at a time from `from` to `to`, then exchanges `from` and `to`.
    const auto for_pairs = [&](auto&& body) HWY_ATTR {
        for (int row = 0; row < rows; row += 2)
            for (int at = row * stride; at < (row + 1) * stride; at += step) {
                const VectorPair pair = body(at);
                hn::StoreU(pair.first, d8, to + at);
                hn::StoreU(pair.second, d8, to + at + stride);
            }
        std::swap(from, to);
    };
    int rows_end = steps.steps[0].rows_end;
    for_pairs([&](int at) HWY_ATTR {
        VectorPair pair{hn::LoadU(d8, middle + at), hn::LoadU(d8, middle + at + stride)};
        join_rows<erodes>(pair, middle + at, 1, rows_end, stride);
        return pair;
    });
    for (int index = 0; index < steps.count; ++index) {
        const int shift = steps.steps[index].shift_px * channels;
        if (shift == 0) break;  // true only for the last step of an element that ends in a point
        const int next_rows_end = index + 1 < steps.count ? steps.steps[index + 1].rows_end : rows_end;
        for_pairs([&](int at) HWY_ATTR {
            VectorPair pair{join_beside<erodes>(from + at, shift), join_beside<erodes>(from + at + stride, shift)};
            if (rows_end < next_rows_end) join_rows<erodes>(pair, middle + at, rows_end, next_rows_end, stride);
            return pair;
        });
        rows_end = next_rows_end;
    }

    for (int row = 0; row < tile.rows; ++row)
        std::memcpy(phase.out.row(tile.frame, tile.y_begin + row) + tile.byte_begin, from + row * stride + rim,
                    static_cast<std::size_t>(tile.bytes));
}

}  // namespace

// Dispatches to the code for an erosion or a dilation.
void morphology_tile(bool erodes, const DilationSteps& steps, const MorphologyPhase& phase,
                     const MorphologyTile& tile) {
    if (erodes)
        morphology_tile_of<true>(steps, phase, tile);
    else
        morphology_tile_of<false>(steps, phase, tile);
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire {
namespace {

HWY_EXPORT(morphology_tile);

// Runs one dilation or erosion of a batch. Squares use the faster method if the images are large enough for it.
void run_phase(bool erodes, const DilationSteps& steps, const MorphologyPhase& phase, const ThreadPool& pool) {
    const auto& shape = phase.in.shape();
    if (steps.is_square() && square_fits(shape))
        return dilate_by_square(erodes, steps.radius, phase.in, phase.out, pool);
    const auto parts = [](std::int64_t whole, std::int64_t part) { return (whole + part - 1) / part; };
    const std::int64_t most_bytes = morphology_stride_bytes - 2 * steps.radius * shape.channels;
    const std::int64_t strips = parts(shape.row_bytes(), most_bytes);
    const auto tile_bytes = static_cast<int>(parts(shape.row_bytes(), strips));
    const std::int64_t bands = parts(shape.height, morphology_tile_rows);
    pool.for_chunks(shape.frames * bands * strips, 1, [&](std::int64_t index, std::int64_t, std::int64_t) {
        const int byte_begin = static_cast<int>(index % strips) * tile_bytes;
        const int y_begin = static_cast<int>(index / strips % bands) * morphology_tile_rows;
        HWY_DYNAMIC_DISPATCH(morphology_tile)
        (erodes, steps, phase,
         {.frame = static_cast<int>(index / strips / bands),
          .y_begin = y_begin,
          .rows = std::min(morphology_tile_rows, shape.height - y_begin),
          .byte_begin = byte_begin,
          .bytes = std::min(tile_bytes, static_cast<int>(shape.row_bytes()) - byte_begin)});
    });
}

}  // namespace

// Runs the phases one after the other; each phase runs in parallel.
void Morphology::run(const FilterImages<MemorySpace::host>& images) {
    validate(images.in, shape_, "morphology's image");
    validate(images.out, shape_, "morphology's result");
    if (phases_.count == 0) return copy(images.in, images.out);
    auto in = images.in;
    for (int index = 0; index < phases_.count; ++index) {
        // The last phase writes the result, the one before it the intermediate image, and so on, alternating.
        const auto to = (phases_.count - 1 - index) % 2 == 0 ? images.out : between_.view<MemorySpace::host>();
        run_phase(phases_.erodes(index), steps_, {in, to}, executor_->pool());
        in = to;
    }
}

}  // namespace framewire

#endif

#ifndef FRAMEWIRE_SQUARES_CPU_ONCE
#define FRAMEWIRE_SQUARES_CPU_ONCE

namespace framewire {

// A rectangle of one frame's result: some rows, and some bytes of each.
struct SquareTile {
    int frame, y_begin, y_end, byte_begin, byte_end;
};

// Size of the largest vectors of all instruction sets, for constants that all instruction sets share.
inline constexpr int square_most_lanes = 64;
// Size of the column pass's result, which is on the stack and has as many rows as the square. It fits the L1 cache,
// except for large squares.
inline constexpr int square_near_bytes = 32 * 1024;
// Narrowest tile.
inline constexpr int square_least_tile_bytes = 768;
// Widest tile.
inline constexpr int square_most_tile_bytes = 6144;
// Vectors read and write this many bytes beyond the end of a row, and half as many before its start.
inline constexpr int square_slack_bytes = 2 * square_most_lanes;

// Returns the distance of two rows in the buffer, for tiles and margins of these widths.
constexpr int square_stride_bytes(int tile_bytes, int rim) {
    return (tile_bytes + 2 * rim + square_slack_bytes * 3 / 2 + square_most_lanes) / square_most_lanes *
           square_most_lanes;
}

inline constexpr int square_buffer_bytes =
    square_most_lanes +
    std::max(square_near_bytes, max_element_px* square_stride_bytes(square_least_tile_bytes, max_element_px / 2 * 3));
// Squares of three keep this many rows in registers and process one column of vectors at a time.
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

// Returns the maximum, or the minimum for an erosion.
template <bool erodes>
HWY_INLINE V8 joined(V8 one, V8 other) {
    if constexpr (erodes)
        return hn::Min(one, other);
    else
        return hn::Max(one, other);
}

// Rows of an image that is extended by repeating its outermost rows. That has the same effect as neutral pixels
// outside, because every window that reaches beyond the edge contains the outermost row.
class NearestRows {
public:
    // Refers to one frame of an image.
    NearestRows(HostView<const std::uint8_t> image, int frame) : image_(image), frame_(frame) {}
    // Returns row y, or the nearest row of the image.
    const std::uint8_t* operator()(int y) const {
        return image_.row(frame_, std::clamp(y, 0, image_.shape().height - 1));
    }

private:
    HostView<const std::uint8_t> image_;
    int frame_;
};

// ---- Squares of three ----

// Returns each byte joined with its neighbours in the row.
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

// Computes squares of three for one tile.
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

    // Computes a vector at x from copies of the rows. Used if some of its windows reach beyond the image or if the
    // number of rows is odd.
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

// Runs the column pass for one group of `size` rows of results: columns `begin` to `end` of the image, written to `to`.
// It reads 2 * size - 1 rows, starting with the first row of the first window:
//
//   rows 0 .. size-1         running maxima upwards, from row size-1 to each row
//   rows size .. 2*size-2    running maxima downwards, from row size to each row
//   window i                 max of the upward run at row i and the downward run at row i + size - 1
template <bool erodes>
void join_columns(const std::uint8_t* const* rows, int size, int begin, int end, std::uint8_t* to,
                  std::int64_t to_stride) {
    const D8 d8;
    const auto step = static_cast<int>(hn::Lanes(d8));
    // Computes one or two vectors of columns.
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

// Offsets, in elements, at which runs of `run` pixels make up one of `next` pixels. If fewer runs suffice, the last
// offset is repeated.
struct RunStep {
    int next, offsets[3];
};

// Returns the step from runs of `run` pixels towards `size`: to runs up to four times as long.
inline RunStep step_from(int run, int size, int channels) {
    const int next = std::min(4 * run, size);
    RunStep step{.next = next, .offsets = {}};
    for (int part = 0; part < 3; ++part) step.offsets[part] = std::min((part + 1) * run, next - run) * channels;
    return step;
}

// Returns the join of four runs.
template <bool erodes>
HWY_INLINE V8 joined_runs(const std::uint8_t* at, const RunStep& step) {
    const D8 d8;
    return joined<erodes>(joined<erodes>(hn::LoadU(d8, at), hn::LoadU(d8, at + step.offsets[0])),
                          joined<erodes>(hn::LoadU(d8, at + step.offsets[1]), hn::LoadU(d8, at + step.offsets[2])));
}

// Runs the row pass: computes `count` results, each the maximum of `size` pixels from its position in `line` on.
// Overwrites the line. Prefetches `next_out`, the destination of a later row of results, because the first write to a
// memory line otherwise waits for it.
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

// Computes squares of any size for one tile, group by group.
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
            // Prefetch the row after the next one.
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

// Dispatches to the code for an erosion or a dilation.
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
    // Largest number of whole vectors of columns that fit square_near_bytes in all rows. The stride is rounded up by
    // less than one vector.
    const std::int64_t near_vectors =
        (square_near_bytes / size - square_stride_bytes(0, radius * shape.channels)) / square_most_lanes - 1;
    const auto most_bytes =
        std::clamp<std::int64_t>(near_vectors * square_most_lanes, square_least_tile_bytes, square_most_tile_bytes);
    const auto tile_bytes =
        parts(parts(shape.row_bytes(), parts(shape.row_bytes(), most_bytes)), square_most_lanes) * square_most_lanes;
    const auto columns = parts(shape.row_bytes(), tile_bytes);
    // Tiles are whole groups of rows. Four tiles per thread balance the load if other processes slow a core down.
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

#if HWY_ONCE

namespace framewire {

// Groups rows by their reach, from the middle outwards. After each group, `a` is widened by the difference between this
// group's reach and the next group's.
DilationSteps::DilationSteps(const StructuringElement& element, int largest_shift_px) : radius(element.radius()) {
    for (int row = 0; row <= radius;) {
        const int reach = element.reach(row);
        while (row <= radius && element.reach(row) == reach) ++row;
        const int missing = reach - (row <= radius ? element.reach(row) : 0);
        int done = 0;
        do {
            // A run of 2 * done + 1 pixels joined with copies directly beside it leaves no gap.
            const int shift = std::min({2 * done + 1, missing - done, largest_shift_px});
            steps[count++] = {static_cast<std::uint8_t>(row), static_cast<std::uint8_t>(shift)};
            done += shift;
        } while (done < missing);
    }
}

namespace {

// GPU kernels have separate code for each shift, so they use only small shifts.
constexpr int largest_cuda_shift_px = 3;

// Returns the steps for a backend.
DilationSteps steps_for(const MorphologyParameters& parameters, Backend backend) {
    const StructuringElement element(parameters.shape, parameters.size);
    return backend == Backend::cuda ? DilationSteps(element, largest_cuda_shift_px) : DilationSteps(element);
}

// Returns the parameters that all four filters share.
const ParameterFields<MorphologyParameters>& morphology_fields() {
    using P = MorphologyParameters;
    static const ParameterFields<P> fields = {
        parameter_field(&P::size, {.name = "size",
                                   .help = "diameter of the structuring element in pixels",
                                   .minimum = 1,
                                   .maximum = max_element_px,
                                   .odd_only = true}),
        parameter_field(
            &P::shape, element_shape_names,
            {.name = "shape", .help = "disc: dx^2 + dy^2 <= (size / 2)^2; ellipse: OpenCV's; rect: the whole square"}),
    };
    return fields;
}

// Returns the registry entry of one operation.
FilterInfo info(std::string_view name, std::string_view example, std::string_view summary,
                MorphologyOperation operation) {
    return {
        .name = name,
        .summary = summary,
        .parameters = morphology_fields().infos(),
        .examples = {example},
        .output_shape = [](const ParameterValues&, const Shape& shape) { return shape; },
        .make = [operation](const ParameterValues& values, const Shape& shape,
                            Executor& executor) -> std::unique_ptr<Filter> {
            auto parameters = morphology_fields().from(values);
            parameters.operation = operation;
            return std::make_unique<FilterOf<Morphology>>(parameters, shape, executor);
        },
    };
}

}  // namespace

// Fixes the phases and the steps of the element; allocates the intermediate image if there are several phases.
Morphology::Morphology(MorphologyParameters parameters, const Shape& shape, Executor& executor)
    : phases_(phases_of(parameters.operation)),
      steps_(steps_for(parameters, executor.backend())),
      shape_(shape),
      executor_(&executor) {
    validate(shape, "morphology's image");
    if constexpr (cuda::compiled)
        if (executor.backend() == Backend::cuda) phase_on_device_ = plan_for_cuda();
    if (phases_.count > 1) between_ = BackendImage(shape, executor);
}

FilterInfo close_info() {
    return info("close", "close=7", "dilate, then erode: fills gaps smaller than the structuring element",
                MorphologyOperation::close);
}

FilterInfo dilate_info() {
    return info("dilate", "dilate=7:shape=rect", "maximum of each pixel's neighbourhood", MorphologyOperation::dilate);
}

FilterInfo erode_info() {
    return info("erode", "erode=7", "minimum of each pixel's neighbourhood", MorphologyOperation::erode);
}

FilterInfo open_info() {
    return info("open", "open=7:shape=ellipse",
                "erode, then dilate: removes details smaller than the structuring element", MorphologyOperation::open);
}

MorphologyOperation parse_morphology_operation(std::string_view text) {
    if (const auto* operation = value_named(morphology_names, text)) return *operation;
    fail(ErrorCode::usage, "unknown morphology operation '{}'; allowed: {}", text,
         fmt::join(names_of(morphology_names), ", "));
}

// Returns the phases. Closing and opening are compositions of dilation and erosion (Serra, Image Analysis and
// Mathematical Morphology, 1982).
MorphologyPhases phases_of(MorphologyOperation operation) {
    using enum MorphologyPhases::Phase;
    switch (operation) {
        case MorphologyOperation::none: return {};
        case MorphologyOperation::dilate: return {{dilate}, 1};
        case MorphologyOperation::erode: return {{erode}, 1};
        case MorphologyOperation::open: return {{erode, dilate}, 2};
        case MorphologyOperation::close: return {{dilate, erode}, 2};
        case MorphologyOperation::close_open: return {{dilate, erode, erode, dilate}, 4};
    }
    fail(ErrorCode::internal, "unknown morphology operation");
}

StructuringElement::StructuringElement(ElementShape shape, int diameter) : diameter_(diameter) {
    if (diameter < 1 || diameter > max_element_px || diameter % 2 == 0)
        fail(ErrorCode::usage, "the structuring element's diameter is {}; allowed: odd numbers from 1 to {}", diameter,
             max_element_px);
    const int r = radius();
    for (int dy = -r; dy <= r; ++dy) {
        const double chord = std::sqrt(static_cast<double>(r * r - dy * dy));
        // The disc contains the pixels inside the circle. OpenCV's ellipse rounds its chords to nearest, ties to even.
        const int reach = shape == ElementShape::rect   ? r
                          : shape == ElementShape::disc ? static_cast<int>(chord)
                                                        : static_cast<int>(std::nearbyint(chord));
        reach_[static_cast<std::size_t>(dy + r)] = reach;
    }
}

}  // namespace framewire

#endif  // HWY_ONCE
