#include "framewire/core/simd/simd.hpp"
#include "framewire/filters/gaussian/gaussian.hpp"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/filters/gaussian/gaussian_cpu.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "framewire/filters/gaussian/gaussian-inl.hpp"
#include "framewire/filters/gaussian/gaussian_short-inl.hpp"

// Gaussian on the CPU, in tiles. The loops are in two headers, gaussian-inl.hpp for any window and
// gaussian_short-inl.hpp for few taps; this file instantiates them for common sizes and chooses between them.

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

// One tile with the general loops.
template <GaussianRounding rounding, int fixed_terms>
void gaussian_tile_of(const GaussianWeights& weights, Border border, HostView<const std::uint8_t> in,
                      HostView<std::uint8_t> out, const WindowTile& tile) {
    const auto& shape = in.shape();
    gaussian_passes::blur_tile<rounding, fixed_terms>(
        weights, border, shape, tile,
        [&](int y, const TileColumns& columns, std::uint8_t* line) {
            const auto* image = in.row(tile.frame, y) + columns.image_begin();
            // Tiles are narrow, so the hardware prefetcher has hardly started when a row of one ends. (Not a separate
            // function: GCC 12 considers a function that only prefetches to have no effect and drops calls to it.)
            const auto* next = image + (y + 2 < shape.height ? 2 * in.row_stride_bytes() : 0);
            for (int x = 0; x < columns.image_count(); x += 64) hwy::Prefetch(next + x);
            std::memcpy(line, image, static_cast<std::size_t>(columns.image_count()));
        },
        [&](int y) { return out.row(tile.frame, y) + tile.x_begin * shape.channels; }, [](int) {});
}

// One tile with the loops for few taps.
template <int taps>
void gaussian_short_tile_of(const GaussianWeights& weights, Border border, HostView<const std::uint8_t> in,
                            HostView<std::uint8_t> out, const WindowTile& tile) {
    if (in.shape().channels == 3)
        gaussian_short::blur_tile<taps, 3>(weights, border, in, out, tile);
    else
        gaussian_short::blur_tile<taps, 1>(weights, border, in, out, tile);
}

}  // namespace

// Returns true if the loops for few taps are faster with the present instruction set.
bool gaussian_short_suits(const GaussianWeights& weights, int channels) {
    return gaussian_short::suits(weights, channels);
}

// Chooses the number of taps at compile time.
void gaussian_short_tile(const GaussianWeights& weights, Border border, HostView<const std::uint8_t> in,
                         HostView<std::uint8_t> out, const WindowTile& tile) {
    switch (weights.taps) {
        case 3: return gaussian_short_tile_of<3>(weights, border, in, out, tile);
        case 5: return gaussian_short_tile_of<5>(weights, border, in, out, tile);
        default:
            if constexpr (HWY_TARGET <= HWY_AVX3_DL) gaussian_short::blur_tile<7, 3>(weights, border, in, out, tile);
    }
}

// Chooses the number of terms at compile time for common sizes.
void gaussian_tile(const GaussianWeights& weights, Border border, HostView<const std::uint8_t> in,
                   HostView<std::uint8_t> out, const WindowTile& tile) {
    constexpr auto fine = GaussianRounding::fine, opencv = GaussianRounding::opencv;
    if (weights.rounding == opencv) return gaussian_tile_of<opencv, 0>(weights, border, in, out, tile);
    switch (weights.terms()) {
        case 2: return gaussian_tile_of<fine, 2>(weights, border, in, out, tile);
        case 8: return gaussian_tile_of<fine, 8>(weights, border, in, out, tile);  // size 15
        default: return gaussian_tile_of<fine, 0>(weights, border, in, out, tile);
    }
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire {

HWY_EXPORT(gaussian_tile);
HWY_EXPORT(gaussian_short_tile);
HWY_EXPORT(gaussian_short_suits);

// Tiles are high compared with the window, because every tile repeats the row pass for the rows above it.
void Gaussian::run(const FilterImages<MemorySpace::host>& images) const {
    validate(images.in, shape_, "gaussian's image");
    validate(images.out, shape_, "gaussian's result");
    if (HWY_DYNAMIC_DISPATCH(gaussian_short_suits)(weights_, shape_.channels)) {
        for_window_tiles(executor_->pool(), shape_, gaussian_short_tile_bytes / shape_.channels,
                         2 * gaussian_short_rows, [&](const WindowTile& tile) {
                             HWY_DYNAMIC_DISPATCH(gaussian_short_tile)(weights_, border_, images.in, images.out, tile);
                         });
        return;
    }
    for_window_tiles(executor_->pool(), shape_, gaussian_tile_bytes(weights_.taps) / shape_.channels, 8 * weights_.taps,
                     [&](const WindowTile& tile) {
                         HWY_DYNAMIC_DISPATCH(gaussian_tile)(weights_, border_, images.in, images.out, tile);
                     });
}

}  // namespace framewire

#endif
