#pragma once

#include "framewire/core/host_device.hpp"
#include "framewire/core/view.hpp"
#include "framewire/detect/masks/bit_mask.hpp"

#include <cstddef>
#include <cstdint>

// How the CUDA labelling cuts masks into tiles, and which runs of set bits touch. A run is a longest row of set bits
// within one word. Of two pixels side by side at an even x only one can begin a run, so runs are numbered by half their
// first x: their slot. Slots in raster order are runs in raster order.

namespace framewire::labelling {

/// A tile is as high as a warp has lanes and as wide as its block has warps: a lane has one word.
inline constexpr int tile_rows = 32;
inline constexpr int tile_words = 4;
inline constexpr int tile_width_px = tile_words * 32;
inline constexpr int word_slots = 16;
inline constexpr int tile_slots = tile_rows * tile_words * word_slots;

struct TileGrid {
    std::uint32_t row_words, columns, rows;

    FRAMEWIRE_HOST_DEVICE constexpr explicit TileGrid(const Shape& shape)
        : row_words(static_cast<std::uint32_t>(mask_row_words(shape.width))),
          columns(row_words / tile_words),
          rows(static_cast<std::uint32_t>((shape.height + tile_rows - 1) / tile_rows)) {}
    FRAMEWIRE_HOST_DEVICE constexpr std::uint32_t tiles() const { return columns * rows; }
};

/// The most components a tile can have: with 8 neighbours each needs 2x2 pixels of its own, with 4 neighbours two.
FRAMEWIRE_HOST_DEVICE constexpr std::uint32_t most_in_tile(bool eight) { return eight ? tile_slots / 2 : tile_slots; }

#ifdef __CUDA_ARCH__
__device__ inline int lowest_bit(std::uint32_t bits) { return __ffs(static_cast<int>(bits)) - 1; }
__device__ inline int highest_bit(std::uint32_t bits) { return 31 - __clz(static_cast<int>(bits)); }
#else
constexpr int lowest_bit(std::uint32_t bits) { return __builtin_ctz(bits); }
constexpr int highest_bit(std::uint32_t bits) { return 31 - __builtin_clz(bits); }
#endif

/// The lowest run of `bits`, as a mask; 0 of 0.
FRAMEWIRE_HOST_DEVICE constexpr std::uint32_t lowest_run(std::uint32_t bits) {
    return bits & ~(bits + (bits & (0u - bits)));  // adding to its lowest bit carries it away
}

/// Where the run of `word` that has bit `bit` begins.
FRAMEWIRE_HOST_DEVICE constexpr int run_begin(std::uint32_t word, int bit) {
    const auto begins = word & ~(word << 1);
    return highest_bit(begins & (0xFFFFFFFFu >> (31 - bit)));
}

/// A word of a row and its neighbours in the same row, 0 beyond the tile or image.
struct WordTriple {
    std::uint32_t left, word, right;
};

/// Which pixels of a word must be joined with one of the row above for all that touch to be joined: straight up, or,
/// with 8 neighbours, by a corner. Of the links that others make needless, given that each row's runs are whole, none
/// is left (as in Playne and Hawick 2018): a run and one above have one link.
struct Links {
    std::uint32_t up, up_left, up_right;

    FRAMEWIRE_HOST_DEVICE constexpr std::uint32_t any() const { return up | up_left | up_right; }
    /// How far to the right of pixel `bit`, which has a link, the pixel above is that it leads to.
    FRAMEWIRE_HOST_DEVICE constexpr int shift_at(int bit) const {
        return up >> bit & 1 ? 0 : up_left >> bit & 1 ? -1 : 1;
    }
    /// Takes the link that shift_at() speaks of away.
    FRAMEWIRE_HOST_DEVICE constexpr void remove(int bit, int shift) {
        const auto others = ~(1u << bit);
        if (shift == 0) up &= others;
        if (shift < 0) up_left &= others;
        if (shift > 0) up_right &= others;
    }
};

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

/// Whether the runs left and right of a word's left edge must be joined because no links to the row above join them
/// already.
FRAMEWIRE_HOST_DEVICE constexpr bool joins_left(const WordTriple& own, const WordTriple& above) {
    return (own.word & 1) && own.left >> 31 && !((above.word & 1) && above.left >> 31);
}

/// What one tile found of a component; those of one component are joined to trees, whose roots collect everything.
struct TileComponent {
    std::uint32_t parent;  ///< index in the frame; a root's is its own
    std::uint32_t first;   ///< slot in the frame of the first pixel
    std::uint32_t min_x, max_x, max_y;
    std::uint32_t area;  ///< for label images a root's is its component's id once it is listed
    unsigned long long sum_x, sum_y;
};

/// How many components a tile found, and its outer columns: bit y of `left` is the pixel (0, y).
struct TileSummary {
    std::uint32_t components, left, right;
};

/// Numbers are given by bands of rows, a block each, with one bit a slot in shared memory.
inline constexpr std::uint32_t band_words = 1024;
FRAMEWIRE_HOST_DEVICE constexpr std::uint32_t band_row_words(const TileGrid& grid) { return grid.row_words / 2; }
FRAMEWIRE_HOST_DEVICE constexpr std::uint32_t rows_in_band(const TileGrid& grid) {
    std::uint32_t rows = tile_rows;
    while (rows * band_row_words(grid) > band_words) rows /= 2;
    return rows;
}
FRAMEWIRE_HOST_DEVICE constexpr std::uint32_t bands_in_frame(const TileGrid& grid) {
    return grid.rows * (tile_rows / rows_in_band(grid));
}
static_assert(band_words * 2 >= max_side_px / 32 && band_words * 32 < 1 << 16);

/// Device memory the CUDA labelling keeps; every run writes what it reads.
struct TileWorkspace {
    TileComponent* components;        ///< a frame: most_in_tile() a tile
    unsigned long long* band_counts;  ///< a frame: bands_in_frame()
    TileSummary* summaries;           ///< a frame: a tile each
    std::uint16_t* slots;             ///< a slot's component's number in its tile, where tiles meet or for label images

    TileWorkspace(std::uint8_t* memory, const Shape& shape, bool eight) {
        const TileGrid grid(shape);
        const auto frames = static_cast<std::size_t>(shape.frames), tiles = frames * grid.tiles();
        components = reinterpret_cast<TileComponent*>(memory);
        band_counts = reinterpret_cast<unsigned long long*>(components + tiles * most_in_tile(eight));
        slots = reinterpret_cast<std::uint16_t*>(band_counts + frames * bands_in_frame(grid));
        summaries = reinterpret_cast<TileSummary*>(slots + tiles * tile_slots);
    }
    static std::size_t bytes(const Shape& shape, bool eight) {
        const TileGrid grid(shape);
        const auto frames = static_cast<std::size_t>(shape.frames), tiles = frames * grid.tiles();
        return tiles * (most_in_tile(eight) * sizeof(TileComponent) + tile_slots * sizeof(std::uint16_t) +
                        sizeof(TileSummary)) +
               frames * bands_in_frame(grid) * sizeof(unsigned long long);
    }
};

}  // namespace framewire::labelling
