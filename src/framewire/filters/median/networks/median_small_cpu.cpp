#include "framewire/core/simd/simd.hpp"
#include "framewire/filters/median/median_cpu.hpp"
#include "framewire/filters/median/networks/median_tile.hpp"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/filters/median/networks/median_small_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "framewire/filters/median/networks/median_order-inl.hpp"

// Medians of the sizes 3 and 5 by sorting networks, one vector of each row of a tile at a time. Tiles are one pixel
// wide and two or four pixels high, so that neighbouring rows share comparisons.

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#define MEDIAN_NETWORK HWY_INLINE
#define MEDIAN_LOOP
#define MEDIAN_SIZES_FROM 3
#define MEDIAN_SIZES_UP_TO 5
#include "median_networks.inc"
#undef MEDIAN_SIZES_UP_TO
#undef MEDIAN_SIZES_FROM
#undef MEDIAN_LOOP
#undef MEDIAN_NETWORK

// Medians for one vector of each row of a tile. rows[y] points to the start of the windows of the row's first bytes.
template <int size, int tile_height>
HWY_INLINE void median_vectors(const std::uint8_t* const* rows, std::int64_t at, int channels, std::uint8_t* const* out,
                               std::int64_t out_at) {
    const hn::ScalableTag<std::uint8_t> d;
    const auto load = [=](int x, int y) HWY_ATTR { return hn::LoadU(d, rows[y] + at + x * channels); };
    const auto store = [=](int, int y, hn::VFromD<decltype(d)> median)
                           HWY_ATTR { hn::StoreU(median, d, out[y] + out_at); };
    median_network(MedianTile<size, 1, tile_height>{}, VectorOrder{}, load, store);
}

// Rows of tiles that are one pixel wide, straight from the image. A pixel's neighbours are `channels` bytes away, for
// every channel, so interleaved pixels need no splitting.
template <int size, int tile_height>
void median_rows(const MedianBlock& block, Border border) {
    constexpr int radius = size / 2, footprint_height = size + tile_height - 1;
    constexpr int max_edge_bytes = HWY_MAX_BYTES + 3 * (size - 1);
    const auto& shape = block.in.shape();
    const int channels = shape.channels, width = shape.width;
    const auto vector_bytes = static_cast<int>(hn::Lanes(hn::ScalableTag<std::uint8_t>()));
    const std::int64_t row_bytes = shape.row_bytes(), radius_bytes = radius * channels;

    std::uint8_t edges[footprint_height][max_edge_bytes + HWY_MAX_BYTES] = {};
    std::uint8_t results[tile_height][HWY_MAX_BYTES];
    const std::uint8_t *rows[footprint_height], *edge_rows[footprint_height];
    std::uint8_t *out[tile_height], *result_rows[tile_height];
    for (int y = 0; y < footprint_height; ++y) edge_rows[y] = edges[y];
    for (int y = 0; y < tile_height; ++y) result_rows[y] = results[y];

    for (int first = block.y; first < block.y + block.height; first += tile_height) {
        const int height = std::min(tile_height, block.y + block.height - first);
        bool has_black_row = false;
        for (int y = 0; y < footprint_height; ++y) {
            rows[y] = row_or_border(block.in, block.frame, first - radius + y, border);
            has_black_row |= !rows[y];
        }
        for (int y = 0; y < height; ++y) out[y] = block.out.row(block.frame, first + y);

        // Pixels whose windows or vectors would leave the image are computed from a padded copy.
        const auto padded_part = [&](int begin, int end) {
            // Whole pixels per vector.
            const int step = vector_bytes / channels;
            for (int x = begin; x < end; x += step) {
                const int pixels = std::min(step, end - x);
                for (int y = 0; y < footprint_height; ++y)
                    pad_row_part(rows[y], width, channels, x - radius, x + pixels + radius, border, edges[y]);
                median_vectors<size, tile_height>(edge_rows, 0, channels, result_rows, 0);
                for (int y = 0; y < height; ++y)
                    std::memcpy(out[y] + x * channels, results[y], static_cast<std::size_t>(pixels * channels));
            }
        };
        const auto inside_bytes = row_bytes - 2 * radius_bytes;
        if (inside_bytes < vector_bytes || height < tile_height || has_black_row) {
            padded_part(0, width);
            continue;
        }
        padded_part(0, radius);
        // The last vector overlaps the previous one.
        for (std::int64_t at = 0; at < inside_bytes; at += vector_bytes) {
            const auto from = std::min(at, inside_bytes - vector_bytes);
            median_vectors<size, tile_height>(rows, from, channels, out, radius_bytes + from);
        }
        padded_part(width - radius, width);
    }
}

}  // namespace

// Tile heights as in print_networks.cpp.
void small_median_rows(const MedianBlock& block, int size, Border border) {
    size == 3 ? median_rows<3, 2>(block, border) : median_rows<5, 4>(block, border);
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire {

HWY_EXPORT(small_median_rows);

void small_median(const MedianBlock& block, int size, Border border) {
    HWY_DYNAMIC_DISPATCH(small_median_rows)(block, size, border);
}

}  // namespace framewire

#endif
