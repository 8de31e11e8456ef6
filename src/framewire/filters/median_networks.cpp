#include "framewire/filters/median_networks.hpp"
#include "framewire/core/simd.hpp"
#include "framewire/filters/median.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/filters/median_networks.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

// Minima and maxima of byte vectors, for the median's networks.

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {

/// Minima and maxima of vectors, in the form in which the generated networks call them.
struct VectorOrder {
    /// Returns the smaller value in each lane.
    template <class V>
    static HWY_INLINE V lower(V a, V b) {
        return hwy::HWY_NAMESPACE::Min(a, b);
    }
    /// Returns the larger value in each lane.
    template <class V>
    static HWY_INLINE V upper(V a, V b) {
        return hwy::HWY_NAMESPACE::Max(a, b);
    }
    /// Returns the larger value in each lane; vectors gain nothing from knowing the smaller one.
    template <class V>
    static HWY_INLINE V upper(V a, V b, V /*lower*/) {
        return hwy::HWY_NAMESPACE::Max(a, b);
    }
};

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Medians of sizes 7 to 15 by tiles of 4 x 4 pixels. A line of a block is split into four planes, so that the same
// position in consecutive tiles lies in consecutive bytes and one vector runs the network for as many tiles as it has
// bytes.
#define MEDIAN_NETWORK HWY_INLINE
#define MEDIAN_LOOP
#define MEDIAN_SIZES_FROM 7
#define MEDIAN_SIZES_UP_TO 15
#include "median_networks.inc"
#undef MEDIAN_SIZES_UP_TO
#undef MEDIAN_SIZES_FROM
#undef MEDIAN_LOOP
#undef MEDIAN_NETWORK

constexpr int side = MiddleBlock::tile_side;
constexpr int plane_bytes = MiddleBlock::plane_bytes, line_bytes = MiddleBlock::line_bytes;

// Copies the pixels of a row to the planes of its line. Each pixel is copied as a whole word, of which it is the first
// bytes; the next pixel overwrites the excess.
template <class Word>
void split_to_planes(const std::uint8_t* row, int pixels, int channels, std::uint8_t* line) {
    for (int x = 0; x < pixels; x += side, row += side * channels, line += channels)
        for (int i = 0; i < side; ++i) std::memcpy(line + i * plane_bytes, row + i * channels, sizeof(Word));
}

// Copies pixels back to a row; the inverse of split_to_planes().
template <class Word>
void join_planes(const std::uint8_t* line, int pixels, int channels, std::uint8_t* row) {
    for (int x = 0; x < pixels; x += side, row += side * channels, line += channels)
        for (int i = 0; i < side; ++i) std::memcpy(row + i * channels, line + i * plane_bytes, sizeof(Word));
}

using Vector = hn::VFromD<hn::ScalableTag<std::uint8_t>>;

// Offsets in a line for the columns of a tile's footprint. Lines start with the tile to the left of the first
// footprint.
template <int size>
struct Offsets {
    static constexpr int columns = size + side - 1;  // columns of a footprint

    // Computes the offsets for a number of channels.
    explicit Offsets(int channels) {
        for (int x = 0; x < columns; ++x) {
            pixel[x] = x % side * plane_bytes + (x / side + 1) * channels;
            // The first strip starts at column -1.
            strip[x] = (x + 1) / side * channels;
            strip_column[x] = strip[x] + (x + 1) % side * (size - side + 1) * plane_bytes;
        }
    }

    // Offsets for each column of the footprint: its pixel, its sorted column in a strip, and the strip that starts
    // there.
    std::int64_t pixel[columns], strip_column[columns], strip[columns];
};

// Sorts the strips of one row of tiles.
template <int size>
void sort_strips(const std::uint8_t* lines, int bytes, int channels, std::uint8_t* strips) {
    constexpr int height = size - side + 1;
    const hn::ScalableTag<std::uint8_t> d;
    for (int at = 0; at < bytes; at += static_cast<int>(hn::Lanes(d))) {
        const auto* first = lines + at + (side - 1) * line_bytes;
        const auto load = [=](int x, int y) HWY_ATTR {
            const int column = x == 0 ? (side - 1) * plane_bytes : channels + (x - 1) * plane_bytes;
            return hn::LoadU(d, first + y * line_bytes + column);
        };
        const auto keep_column = [=](int x, int rank, Vector value) HWY_ATTR {
            hn::StoreU(value, d, strips + at + (x * height + rank) * plane_bytes);
        };
        const auto keep_strip = [=](int rank, Vector value) HWY_ATTR {
            hn::StoreU(value, d, strips + at + (side * height + rank) * plane_bytes);
        };
        median_strip(MedianTile<size, side, side>{}, VectorOrder{}, load, keep_column, keep_strip);
    }
}

// Computes one row of tiles, `bytes` of each plane.
template <int size>
void median_tiles(const std::uint8_t* lines, int bytes, int channels, std::uint8_t* results, std::uint8_t* strips) {
    const hn::ScalableTag<std::uint8_t> d;
    const Offsets<size> offsets(channels);
    if constexpr (size >= smallest_median_of_strips)
        sort_strips<size>(lines, bytes + (size + side - 1) / side * channels, channels, strips);
    for (int at = 0; at < bytes; at += static_cast<int>(hn::Lanes(d))) {
        const auto load = [=, &offsets](int x, int y)
                              HWY_ATTR { return hn::LoadU(d, lines + at + y * line_bytes + offsets.pixel[x]); };
        const auto column = [=, &offsets](int x, int rank) HWY_ATTR {
            return hn::LoadU(d, strips + at + rank * plane_bytes + offsets.strip_column[x]);
        };
        const auto strip = [=, &offsets](int x, int rank) HWY_ATTR {
            return hn::LoadU(d, strips + at + (side * (size - side + 1) + rank) * plane_bytes + offsets.strip[x]);
        };
        const auto store = [=](int x, int y, Vector median)
                               HWY_ATTR { hn::StoreU(median, d, results + at + y * line_bytes + x * plane_bytes); };
        if constexpr (size >= smallest_median_of_strips)
            median_network(MedianTile<size, side, side>{}, VectorOrder{}, load, column, strip, store);
        else
            median_network(MedianTile<size, side, side>{}, VectorOrder{}, load, store);
    }
}

}  // namespace

// Computes one block: pads and splits all of its rows, then computes one row of tiles after the other and joins the
// results.
void middle_median_block(const MedianBlock& block, int size, Border border, std::uint8_t* scratch) {
    const int channels = block.in.shape().channels, radius = size / 2;
    auto* lines = scratch;
    auto* results = lines + MiddleBlock::lines * line_bytes;
    auto* row_pixels = results + side * line_bytes;
    auto* strips = row_pixels + line_bytes;

    const auto split = channels == 3 ? split_to_planes<std::uint32_t> : split_to_planes<std::uint8_t>;
    const auto join = channels == 3 ? join_planes<std::uint32_t> : join_planes<std::uint8_t>;
    const auto tiles_of = size == 7    ? median_tiles<7>
                          : size == 9  ? median_tiles<9>
                          : size == 11 ? median_tiles<11>
                          : size == 13 ? median_tiles<13>
                                       : median_tiles<15>;

    // Tiles across and down. The padded width includes the windows of the last tile.
    const int tiles = (block.width + side - 1) / side, tile_rows = (block.height + side - 1) / side;
    const int padded_px = (tiles + (size + side - 1) / side + 1) * side, first_x = block.x - radius - side;
    for (int y = 0; y < tile_rows * side + size - 1; ++y) {
        pad_row_part(row_or_border(block.in, block.frame, block.y - radius + y, border), block.in.shape().width,
                     channels, first_x, first_x + padded_px, border, row_pixels);
        split(row_pixels, padded_px, channels, lines + y * line_bytes);
    }
    for (int tile_row = 0; tile_row < tile_rows; ++tile_row) {
        tiles_of(lines + tile_row * side * line_bytes, tiles * channels, channels, results, strips);
        for (int y = 0; y < std::min(side, block.height - tile_row * side); ++y) {
            join(results + y * line_bytes, block.width, channels, row_pixels);
            std::memcpy(block.out.row(block.frame, block.y + tile_row * side + y) + block.x * channels, row_pixels,
                        static_cast<std::size_t>(block.width * channels));
        }
    }
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire {

HWY_EXPORT(middle_median_block);

// Calls the code for the best instruction set.
void middle_median(const MedianBlock& block, int size, Border border, std::uint8_t* scratch) {
    HWY_DYNAMIC_DISPATCH(middle_median_block)(block, size, border, scratch);
}

}  // namespace framewire

#endif

// Medians of sizes 3 and 5 by sorting networks, one vector of each row of a tile at a time. Tiles are one pixel wide
// and two or four pixels high, so that neighbouring rows share comparisons.

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

// Computes medians for one vector of each row of a tile. rows[y] points to the start of the windows of the row's first
// bytes.
template <int size, int tile_height>
HWY_INLINE void median_vectors(const std::uint8_t* const* rows, std::int64_t at, int channels, std::uint8_t* const* out,
                               std::int64_t out_at) {
    const hn::ScalableTag<std::uint8_t> d;
    const auto load = [=](int x, int y) HWY_ATTR { return hn::LoadU(d, rows[y] + at + x * channels); };
    const auto store = [=](int, int y, hn::VFromD<decltype(d)> median)
                           HWY_ATTR { hn::StoreU(median, d, out[y] + out_at); };
    median_network(MedianTile<size, 1, tile_height>{}, VectorOrder{}, load, store);
}

// Computes rows of tiles that are one pixel wide, directly from the image. A pixel's neighbours are `channels` bytes
// away in every channel, so interleaved pixels need no splitting.
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

// Tile heights must be those of print_networks.cpp.
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
