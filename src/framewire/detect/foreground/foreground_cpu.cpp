#include "framewire/core/error.hpp"
#include "framewire/core/rows/row_strips.hpp"
#include "framewire/core/simd/simd.hpp"
#include "framewire/detect/foreground/foreground.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/detect/foreground/foreground_cpu.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "framewire/filters/gaussian/gaussian-inl.hpp"
#include "framewire/filters/pointwise/differences-inl.hpp"

#ifndef FRAMEWIRE_FOREGROUND_CPU_ONCE
#define FRAMEWIRE_FOREGROUND_CPU_ONCE

namespace framewire {

// The images of a run. Without a mask it only blurs; without `blurred` the blurred frames are discarded.
struct ForegroundImages {
    HostView<const std::uint8_t> frames, background;
    HostBitMaskView<std::uint32_t> mask;
    HostView<std::uint8_t> blurred;
};

}  // namespace framewire

#endif

// Foreground masks on the CPU. Tiles of a frame are processed in parallel; within a tile the passes are fused
// row by row:
//
//     frame row -> gray -> Gaussian -> difference from the background -> bits of the mask
//
// For whole frames, neither the gray image nor, unless the caller wants it, the blurred image is written to memory.

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Writes the bits of `count` pixels, then zeros up to `words` words.
void difference_bits(const std::uint8_t* blurred, const std::uint8_t* background, int count, int threshold,
                     std::uint32_t* bits, int words) {
    const hn::ScalableTag<std::uint8_t> d8;
    const auto step = static_cast<int>(hn::Lanes(d8));
    const auto least = hn::Set(d8, static_cast<std::uint8_t>(threshold));
    auto* bytes = reinterpret_cast<std::uint8_t*>(bits);
    // A saturated subtraction of the threshold is 0 unless the difference exceeds it.
    const auto store = [&](const std::uint8_t* one, const std::uint8_t* other, int x) HWY_ATTR {
        const auto above = hn::SaturatedSub(absolute_difference(hn::LoadU(d8, one), hn::LoadU(d8, other)), least);
        hn::StoreMaskBits(d8, hn::Ne(above, hn::Zero(d8)), bytes + x / 8);
    };
    int x = 0;
    for (; x + step <= count; x += step) store(blurred + x, background + x, x);
    if (x < count) {
        HWY_ALIGN std::uint8_t last[2][HWY_MAX_BYTES] = {};
        const auto rest = static_cast<std::size_t>(count - x);
        std::memcpy(last[0], blurred + x, rest);
        std::memcpy(last[1], background + x, rest);
        store(last[0], last[1], x);
        x += step;
    }
    std::fill(bytes + x / 8, bytes + 4 * words, std::uint8_t{0});
}

// Gray, blur and difference of one tile, row by row, so that every row is used while it is in cache.
template <int fixed_terms>
void foreground_tile_of(const GaussianWeights& weights, int threshold, const ForegroundImages& images,
                        const WindowTile& tile) {
    const auto& shape = images.frames.shape();
    const int channels = shape.channels, count = tile.x_end - tile.x_begin;
    const bool last_of_row = tile.x_end == shape.width;
    HWY_ALIGN std::uint8_t line[gaussian_most_tile_bytes];
    std::uint8_t* blurred = line;
    gaussian_passes::blur_tile<GaussianRounding::opencv, fixed_terms>(
        weights, Border::reflect101, shape.with_channels(1), tile,
        [&](int y, const TileColumns& columns, std::uint8_t* gray) {
            const auto* image = images.frames.row(tile.frame, y) + columns.image_begin() * channels;
            // Prefetches two rows ahead, as the Gaussian does.
            const auto* next = image + (y + 2 < shape.height ? 2 * images.frames.row_stride_bytes() : 0);
            for (int x = 0; x < columns.image_count() * channels; x += 64) hwy::Prefetch(next + x);
            gray_span(GrayMethod::weighted, image, channels, columns.image_count(), 1, gray);
        },
        [&](int y) {
            // Blurred rows go to the caller's image, or to a line that the next row overwrites.
            if (images.blurred.data()) blurred = images.blurred.row(tile.frame, y) + tile.x_begin;
            return blurred;
        },
        [&](int y) {
            if (!images.mask.data()) return;
            const int frame = images.background.shape().frames == 1 ? 0 : tile.frame;
            const int first_word = tile.x_begin / 32;
            const auto* background = images.background.row(frame, y) + tile.x_begin;
            const auto* next = background + (y + 2 < shape.height ? 2 * images.background.row_stride_bytes() : 0);
            for (int x = 0; x < count; x += 64) hwy::Prefetch(next + x);
            difference_bits(blurred, background, count, threshold, images.mask.row(tile.frame, y) + first_word,
                            last_of_row ? images.mask.row_words() - first_word : count / 32);
        });
}

}  // namespace

// A specialised instance for the default size unrolls the loop over its terms.
void foreground_tile(const GaussianWeights& weights, int threshold, const ForegroundImages& images,
                     const WindowTile& tile) {
    if (weights.terms() == 8)  // size 15, the detector's default
        foreground_tile_of<8>(weights, threshold, images, tile);
    else
        foreground_tile_of<0>(weights, threshold, images, tile);
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire {
namespace {

HWY_EXPORT(foreground_tile);

// Tiles share no output words: they start at multiples of 32 pixels.
void run_tiles(const GaussianWeights& weights, int threshold, const ForegroundImages& images, const ThreadPool& pool) {
    for_window_tiles(pool, images.frames.shape(), gaussian_tile_bytes(weights.taps), 8 * weights.taps,
                     [&](const WindowTile& tile) {
                         HWY_DYNAMIC_DISPATCH(foreground_tile)(weights, threshold, images, tile);
                     });
}

}  // namespace

void Foreground::blur(HostView<const std::uint8_t> frames, HostView<std::uint8_t> blurred) const {
    validate(frames, shape_, "the frames to blur");
    validate(blurred, gray_shape(), "the blurred images");
    run_tiles(weights_, threshold_, {frames, {}, {}, blurred}, executor_->pool());
}

// Writes the gray rows of one frame into the plan's image, in parallel.
HostView<const std::uint8_t> Foreground::gray_of(const MakeRows& make) {
    if (made_gray_.shape().height == 0) fail(ErrorCode::usage, "rows for a foreground of several frames at once");
    const ImageRows<std::uint8_t> all(made_gray_.view());
    executor_->pool().for_chunks(shape_.height, rows_in_cache(shape_.width),
                                 [&](std::int64_t, std::int64_t begin, std::int64_t end) {
                                     make(all.part({static_cast<int>(begin), static_cast<int>(end)}));
                                 });
    return std::as_const(made_gray_).view();
}

void Foreground::blur(const MakeRows& make, HostView<std::uint8_t> blurred) {
    validate(blurred, gray_shape(), "the blurred images");
    run_tiles(weights_, threshold_, {gray_of(make), {}, {}, blurred}, executor_->pool());
}

void Foreground::run(const MakeRows& make, HostView<const std::uint8_t> background,
                     HostBitMaskView<std::uint32_t> mask) {
    validate(background, gray_shape(), "the background");
    validate(mask, gray_shape(), "the foreground's mask");
    run_tiles(weights_, threshold_, {gray_of(make), background, mask, {}}, executor_->pool());
}

void Foreground::run(HostView<const std::uint8_t> frames, HostView<const std::uint8_t> background,
                     HostBitMaskView<std::uint32_t> mask, HostView<std::uint8_t> blurred) const {
    validate(frames, shape_, "the frames");
    validate(background, gray_shape().with_frames(background.shape().frames == 1 ? 1 : shape_.frames),
             "the background");
    validate(mask, gray_shape(), "the foreground's mask");
    if (blurred.data()) validate(blurred, gray_shape(), "the blurred images");
    run_tiles(weights_, threshold_, {frames, background, mask, blurred}, executor_->pool());
}

}  // namespace framewire

#endif
