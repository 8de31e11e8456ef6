#pragma once

#include <vector>

namespace framewire {

/// One output of a compare-exchange: the smaller or the larger of two earlier values.
struct NetworkStep {
    bool upper;
    int a, b;  ///< values, by number
};

/// A list of minima and maxima, free of branches, that computes the medians of a tile of pixels at once.
///
/// Values are numbered: first the `inputs`, the footprint of the tile row by row (input x + y * footprint_width), then
/// one for each step. A value that no median needs has no step; a pair of steps on the same two values follow each
/// other, the lower one first.
struct TileNetwork {
    int size = 0;                         ///< of the median, odd
    int tile_width = 0, tile_height = 0;  ///< in pixels
    int footprint_width = 0, footprint_height = 0;
    std::vector<NetworkStep> steps;
    std::vector<int> medians;  ///< the value of each pixel of the tile, row by row

    int inputs() const { return footprint_width * footprint_height; }
};

/// Builds the network by hierarchical tiling (Sugy, "Fast median filters using hierarchical tiling", SIGGRAPH 2025; the
/// sharing of sorted columns is Adams's, SIGGRAPH 2021): what all windows of the tile have in common is sorted once,
/// column by column, and halving the tile again and again adds the columns or rows that the halves do not share, by
/// Batcher's odd-even merge. Ranks that can no longer be the median are dropped after each merge.
/// Sides of the tile are at most `size`.
TileNetwork make_tile_network(int size, int tile_width, int tile_height);

}  // namespace framewire
