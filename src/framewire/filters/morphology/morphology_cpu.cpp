#include "framewire/core/simd/simd.hpp"
#include "framewire/filters/morphology/morphology.hpp"
#include "framewire/filters/morphology/squares.hpp"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/filters/morphology/morphology_cpu.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

// Dilation on the CPU by the steps of an element, in tiles. Two rows of results are made together, because all but two
// of the rows that they read are the same.

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

// Position and size of a tile.
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

// Copies bytes `begin` to `begin + count` - 1 of a row; `neutral` outside it, or everywhere for a null row.
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

// The maximum, or the minimum for an erosion.
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

// Joins both vectors with those at distances rows_begin to rows_end - 1 above and below each. The row above the second
// one's range has just been read for the first, and vice versa below, so each row is loaded once.
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

// Joins a vector with those `shift` bytes to the left and right.
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
    // Computes two rows at a time from `from` to `to`, and exchanges the two.
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
        if (shift == 0) break;  // the last step of an element that ends in a point
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

// Chooses the direction at compile time.
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

// One dilation or erosion of a batch; squares take the faster method if they can.
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

// One phase after the other; each is parallel in itself.
void Morphology::run(const FilterImages<MemorySpace::host>& images) {
    validate(images.in, shape_, "morphology's image");
    validate(images.out, shape_, "morphology's result");
    if (phases_.count == 0) return copy(images.in, images.out);
    auto in = images.in;
    for (int index = 0; index < phases_.count; ++index) {
        // The last phase writes the result, the one before it the intermediate image, and so on alternately.
        const auto to = (phases_.count - 1 - index) % 2 == 0 ? images.out : between_.view<MemorySpace::host>();
        run_phase(phases_.erodes(index), steps_, {in, to}, executor_->pool());
        in = to;
    }
}

}  // namespace framewire

#endif
