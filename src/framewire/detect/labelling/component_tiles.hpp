#pragma once

#include "framewire/core/host_device.hpp"
#include "framewire/core/view.hpp"
#include "framewire/detect/masks/bit_mask.hpp"

#include <cstddef>
#include <cstdint>

// How the CUDA labelling divides masks into tiles, and which runs of set bits touch. A run is a maximal
// sequence of set bits within one word. Of two adjacent pixels x and x + 1 with x even, only one can begin a
// run, so a run is identified by half its first x: its slot. Slots in raster order are runs in raster order.

namespace framewire::labelling {

/// A tile is as high as a warp has lanes and as wide as its block has warps: each lane has one word.
inline constexpr int tile_rows = 32;
inline constexpr int tile_words = 4;
inline constexpr int tile_width_px = tile_words * 32;
inline constexpr int word_slots = 16;
inline constexpr int tile_slots = tile_rows * tile_words * word_slots;

/// The tiles of one frame.
struct TileGrid {
    std::uint32_t row_words, columns, rows;

    FRAMEWIRE_HOST_DEVICE constexpr explicit TileGrid(const Shape& shape)
        : row_words(static_cast<std::uint32_t>(mask_row_words(shape.width))),
          columns(row_words / tile_words),
          rows(static_cast<std::uint32_t>((shape.height + tile_rows - 1) / tile_rows)) {}
    // Number of tiles per frame.
    FRAMEWIRE_HOST_DEVICE constexpr std::uint32_t tiles() const { return columns * rows; }
};

/// Returns the most components that a tile can have: with 8 neighbours each needs 2x2 pixels of its own, with 4
/// neighbours two pixels.
FRAMEWIRE_HOST_DEVICE constexpr std::uint32_t most_in_tile(bool eight) { return eight ? tile_slots / 2 : tile_slots; }

// Lowest and highest set bit; `bits` must not be 0.
#ifdef __CUDA_ARCH__
__device__ inline int lowest_bit(std::uint32_t bits) { return __ffs(static_cast<int>(bits)) - 1; }
__device__ inline int highest_bit(std::uint32_t bits) { return 31 - __clz(static_cast<int>(bits)); }
#else
constexpr int lowest_bit(std::uint32_t bits) { return __builtin_ctz(bits); }
constexpr int highest_bit(std::uint32_t bits) { return 31 - __builtin_clz(bits); }
#endif

/// Returns the lowest run of `bits` as a mask, 0 for 0.
FRAMEWIRE_HOST_DEVICE constexpr std::uint32_t lowest_run(std::uint32_t bits) {
    return bits & ~(bits + (bits & (0u - bits)));  // adding the lowest bit carries through the run
}

/// Returns the first bit of the run of `word` that contains bit `bit`.
FRAMEWIRE_HOST_DEVICE constexpr int run_begin(std::uint32_t word, int bit) {
    const auto begins = word & ~(word << 1);
    return highest_bit(begins & (0xFFFFFFFFu >> (31 - bit)));
}

/// A word of a row and its neighbours in the same row; 0 beyond the tile or the image.
struct WordTriple {
    std::uint32_t left, word, right;
};

/// The pixels of a word that must be united with a pixel of the row above so that everything that touches is
/// united: straight up or, with 8 neighbours, diagonally. Redundant links are removed, given that the runs of
/// each row are whole (as in Playne and Hawick 2018), so a run and a run above it have one link.
struct Links {
    std::uint32_t up, up_left, up_right;

    // Returns the pixels with any link.
    FRAMEWIRE_HOST_DEVICE constexpr std::uint32_t any() const { return up | up_left | up_right; }
    /// Returns the column offset, -1 to 1, of the pixel above to which pixel `bit`, which must have a link, is
    /// linked.
    FRAMEWIRE_HOST_DEVICE constexpr int shift_at(int bit) const {
        return up >> bit & 1 ? 0 : up_left >> bit & 1 ? -1 : 1;
    }
    /// Removes the link that shift_at() returned.
    FRAMEWIRE_HOST_DEVICE constexpr void remove(int bit, int shift) {
        const auto others = ~(1u << bit);
        if (shift == 0) up &= others;
        if (shift < 0) up_left &= others;
        if (shift > 0) up_right &= others;
    }
};

/// Returns the links of a word to the row above, given both rows.
template <bool eight>
FRAMEWIRE_HOST_DEVICE constexpr Links links_up(const WordTriple& own, const WordTriple& above) {
    const auto both = own.word & above.word;
    Links links{both & ~(both << 1), 0, 0};
    if constexpr (eight) {
        const auto corners = own.word & ~above.word;
        links.up_left = corners & (above.word << 1 | above.left >> 31) & ~(own.word << 1 | own.left >> 31);
        links.up_right = corners & (above.word >> 1 | above.right << 31) & ~(own.word >> 1 | own.right << 31);
    }
    return links;
}

/// Returns true if the runs on both sides of a word's left edge must be united because links to the row above
/// do not unite them already.
FRAMEWIRE_HOST_DEVICE constexpr bool joins_left(const WordTriple& own, const WordTriple& above) {
    return (own.word & 1) && own.left >> 31 && !((above.word & 1) && above.left >> 31);
}

/// Statistics of the part of a component in one tile. The parts of a component form a tree, and its root
/// collects all of them.
struct TileComponent {
    std::uint32_t parent;  ///< index in the frame; a root has its own index
    std::uint32_t first;   ///< slot, in the frame, of the first pixel
    std::uint32_t min_x, max_x, max_y;
    std::uint32_t area;  ///< for label images a root's area is replaced by the component's id once it is listed
    unsigned long long sum_x, sum_y;
};

/// Number of components in a tile, and its outer columns: bit y of `left` is pixel (0, y).
struct TileSummary {
    std::uint32_t components, left, right;
};

/// Bands of rows assign the numbers, one block per band, with one bit per slot in shared memory.
inline constexpr std::uint32_t band_words = 1024;
/// Words of bits per row: a 32-pixel word has 16 slots, with one bit each.
FRAMEWIRE_HOST_DEVICE constexpr std::uint32_t band_row_words(const TileGrid& grid) { return grid.row_words / 2; }

/// Returns the rows per band: as many as fit band_words, and a divisor of tile_rows.
FRAMEWIRE_HOST_DEVICE constexpr std::uint32_t rows_in_band(const TileGrid& grid) {
    std::uint32_t rows = tile_rows;
    while (rows * band_row_words(grid) > band_words) rows /= 2;
    return rows;
}

/// Returns the number of bands per frame.
FRAMEWIRE_HOST_DEVICE constexpr std::uint32_t bands_in_frame(const TileGrid& grid) {
    return grid.rows * (tile_rows / rows_in_band(grid));
}
static_assert(band_words * 2 >= max_side_px / 32 && band_words * 32 < 1 << 16);

/// Device memory of the CUDA labelling. Each run writes everything that it reads.
struct TileWorkspace {
    TileComponent* components;        ///< per frame: most_in_tile() per tile
    unsigned long long* band_counts;  ///< per frame: bands_in_frame()
    TileSummary* summaries;           ///< per frame: one per tile
    /// Per slot the number of its component in the tile; only where tiles meet, or for label images.
    std::uint16_t* slots;

    TileWorkspace(std::uint8_t* memory, const Shape& shape, bool eight) {
        const TileGrid grid(shape);
        const auto frames = static_cast<std::size_t>(shape.frames), tiles = frames * grid.tiles();
        components = reinterpret_cast<TileComponent*>(memory);
        band_counts = reinterpret_cast<unsigned long long*>(components + tiles * most_in_tile(eight));
        slots = reinterpret_cast<std::uint16_t*>(band_counts + frames * bands_in_frame(grid));
        summaries = reinterpret_cast<TileSummary*>(slots + tiles * tile_slots);
    }
    // Returns the bytes of memory for the constructor.
    static std::size_t bytes(const Shape& shape, bool eight) {
        const TileGrid grid(shape);
        const auto frames = static_cast<std::size_t>(shape.frames), tiles = frames * grid.tiles();
        return tiles * (most_in_tile(eight) * sizeof(TileComponent) + tile_slots * sizeof(std::uint16_t) +
                        sizeof(TileSummary)) +
               frames * bands_in_frame(grid) * sizeof(unsigned long long);
    }
};

}  // namespace framewire::labelling
