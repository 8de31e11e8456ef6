#include "framewire/core/simd/simd.hpp"
#include "framewire/detect/masks/mask_morphology.hpp"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/detect/masks/mask_morphology_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef FRAMEWIRE_MASK_MORPHOLOGY_CPU_ONCE
#define FRAMEWIRE_MASK_MORPHOLOGY_CPU_ONCE

namespace framewire {

// A tile of one frame's result; everything it needs is in L1. Its rows are stored one after another as a single string
// of bits, each between a word of its left and one of its right neighbour. Elements reach at most 31 bits into those,
// so bits that shifts bring in from other rows do not get further than the halo:
//
//     | halo | row 0 of the tile | halo | halo | row 1 of the tile | halo | ...

inline constexpr int mask_tile_rows = 32;
inline constexpr int mask_tile_words = 64;
inline constexpr int mask_tile_stride_words = mask_tile_words + 2;
// Vectors read and write up to one vector length after the last row, and read one 64-bit word before the first.
inline constexpr int mask_tile_slack_words = 32;

// Position of a tile in the batch.
struct MaskTile {
    int frame, y_begin, rows, first_word, words;
};

// One dilation or erosion of the whole batch.
struct MaskPhase {
    HostBitMaskView<const std::uint32_t> in;
    HostBitMaskView<std::uint32_t> out;
    bool erodes;
};

}  // namespace framewire

#endif

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using D64 = hn::ScalableTag<std::uint64_t>;

// Copies words first to first + count - 1 of a row, complemented if `flip` is all ones; words outside of the
// image are 0.
void copy_words(const std::uint32_t* row, int first, int count, int width_px, std::uint32_t flip, std::uint32_t* out) {
    const int inside_end = std::clamp((width_px + 31) / 32 - first, 0, count);
    const hn::CappedTag<std::uint32_t, 4> d32;  // a row has few words
    const auto step = static_cast<int>(hn::Lanes(d32));
    const auto flips = hn::Set(d32, flip);
    int word = 0;
    for (; word + step <= inside_end; word += step)
        hn::StoreU(hn::Xor(hn::LoadU(d32, row + word), flips), d32, out + word);
    for (; word < inside_end; ++word) out[word] = row[word] ^ flip;
    std::fill(out + inside_end, out + count, 0u);
    const int last_px = width_px - 32 * (first + inside_end - 1);  // pixels of the last word that are inside the image
    if (inside_end > 0 && last_px < 32) out[inside_end - 1] &= (1u << last_px) - 1;
}

// Loads the tile's rows and the rows above and below that the element covers.
void load_tile(const MaskPhase& phase, const MaskTile& tile, int radius, int stride, std::uint32_t* out) {
    const auto& shape = phase.in.shape();
    // An erosion is a dilation of the complement.
    const std::uint32_t flip = phase.erodes ? ~0u : 0u;
    for (int y = tile.y_begin - radius; y < tile.y_begin + tile.rows + radius; ++y, out += stride) {
        if (y < 0 || y >= shape.height) {
            std::fill_n(out, stride, 0u);
            continue;
        }
        const auto* row = phase.in.row(tile.frame, y) + tile.first_word;
        const bool left = tile.first_word > 0;
        out[0] = left ? row[-1] ^ flip : 0;
        copy_words(row, tile.first_word, tile.words + 1, shape.width, flip, out + 1);
    }
}

// Joins words with those at equal distances above and below, for distances rows_begin to rows_end - 1.
template <class V>
HWY_INLINE V join_rows(V joined, const std::uint64_t* at, int rows_begin, int rows_end, std::int64_t stride_64) {
    const D64 d64;
    for (int row = rows_begin; row < rows_end; ++row)
        joined = hn::Or(joined, hn::Or(hn::LoadU(d64, at - row * stride_64), hn::LoadU(d64, at + row * stride_64)));
    return joined;
}

// Joins each pixel with those `shift_px` to its left and right.
HWY_INLINE hn::Vec<D64> dilate_along(const std::uint64_t* at, int shift_px) {
    const D64 d64;
    const auto words = hn::LoadU(d64, at);
    // 64-bit words, with the bits that cross from the neighbouring words.
    const auto from_left =
        hn::Or(hn::ShiftLeftSame(words, shift_px), hn::ShiftRightSame(hn::LoadU(d64, at - 1), 64 - shift_px));
    const auto from_right =
        hn::Or(hn::ShiftRightSame(words, shift_px), hn::ShiftLeftSame(hn::LoadU(d64, at + 1), 64 - shift_px));
    return hn::Or(words, hn::Or(from_left, from_right));
}

}  // namespace

// Computes one tile: complement if eroding, dilate in steps between two buffers, complement back, store.
void mask_tile(const DilationSteps& steps, const MaskPhase& phase, const MaskTile& tile) {
    HWY_ALIGN std::uint32_t
        source[(mask_tile_rows + max_element_px - 1) * mask_tile_stride_words + mask_tile_slack_words];
    HWY_ALIGN std::uint32_t buffers[2][mask_tile_rows * mask_tile_stride_words + 2 * mask_tile_slack_words];

    const int stride = tile.words + 2;  // even, as the number of words of every row is
    const std::int64_t stride_64 = stride / 2, words_64 = stride_64 * tile.rows;
    load_tile(phase, tile, steps.radius, stride, source);
    const D64 d64;
    const auto step_64 = static_cast<std::int64_t>(hn::Lanes(d64));
    // Bits read after the last row do not reach the result, but they must be initialised.
    std::fill_n(source + (tile.rows + 2 * steps.radius) * stride, mask_tile_slack_words, 0u);
    for (auto& buffer : buffers) {
        std::fill_n(buffer, mask_tile_slack_words, 0u);
        std::fill_n(buffer + mask_tile_slack_words + tile.rows * stride, mask_tile_slack_words, 0u);
    }

    // The element is built in steps: join nearby rows, widen by a number of pixels, join rows further away, ...
    const auto* middle = reinterpret_cast<const std::uint64_t*>(source) + steps.radius * stride_64;
    auto* from = reinterpret_cast<std::uint64_t*>(buffers[0] + mask_tile_slack_words);
    auto* to = reinterpret_cast<std::uint64_t*>(buffers[1] + mask_tile_slack_words);
    int rows_end = steps.steps[0].rows_end;
    for (std::int64_t at = 0; at < words_64; at += step_64)
        hn::StoreU(join_rows(hn::LoadU(d64, middle + at), middle + at, 1, rows_end, stride_64), d64, from + at);
    for (int index = 0; index < steps.count; ++index) {
        const int shift = steps.steps[index].shift_px;
        if (shift == 0) break;  // the last step of an element that ends in a point
        const int next_rows_end = index + 1 < steps.count ? steps.steps[index + 1].rows_end : rows_end;
        for (std::int64_t at = 0; at < words_64; at += step_64)
            hn::StoreU(join_rows(dilate_along(from + at, shift), middle + at, rows_end, next_rows_end, stride_64), d64,
                       to + at);
        std::swap(from, to);
        rows_end = next_rows_end;
    }

    const auto* result = reinterpret_cast<const std::uint32_t*>(from) + 1;
    for (int row = 0; row < tile.rows; ++row, result += stride)
        copy_words(result, tile.first_word, tile.words, phase.out.shape().width, phase.erodes ? ~0u : 0u,
                   phase.out.row(tile.frame, tile.y_begin + row) + tile.first_word);
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire {
namespace {

HWY_EXPORT(mask_tile);

// Runs one phase, a tile at a time, on the threads of the pool.
void run_phase(const DilationSteps& steps, const MaskPhase& phase, const ThreadPool& pool) {
    const auto& shape = phase.in.shape();
    const int row_words = phase.in.row_words();
    const std::int64_t strips = (row_words + mask_tile_words - 1) / mask_tile_words;
    const std::int64_t bands = (shape.height + mask_tile_rows - 1) / mask_tile_rows;
    pool.for_chunks(shape.frames * bands * strips, 1, [&](std::int64_t index, std::int64_t, std::int64_t) {
        const int first_word = static_cast<int>(index % strips) * mask_tile_words;
        const int y_begin = static_cast<int>(index / strips % bands) * mask_tile_rows;
        HWY_DYNAMIC_DISPATCH(mask_tile)
        (steps, phase,
         {.frame = static_cast<int>(index / strips / bands),
          .y_begin = y_begin,
          .rows = std::min(mask_tile_rows, shape.height - y_begin),
          .first_word = first_word,
          .words = std::min(mask_tile_words, row_words - first_word)});
    });
}

}  // namespace

void MaskMorphology::run(HostBitMaskView<const std::uint32_t> in, HostBitMaskView<std::uint32_t> out) {
    validate(in, shape_, "morphology's mask");
    validate(out, shape_, "morphology's result");
    if (phases_.count == 0) std::memcpy(out.data(), in.data(), bit_mask_bytes(shape_));
    // The last phase writes the result. The phases before it alternate between the intermediate mask and the
    // result's memory.
    for (int index = 0; index < phases_.count; ++index) {
        const auto to = (phases_.count - 1 - index) % 2 == 0 ? out : between_.view<MemorySpace::host>();
        run_phase(steps_, {in, to, phases_.erodes(index)}, executor_->pool());
        in = to;
    }
}

}  // namespace framewire

#endif
