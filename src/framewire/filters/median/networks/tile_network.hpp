#pragma once

#include <vector>

namespace framewire {

/// One output of a compare-exchange: the smaller or the larger of two earlier values.
struct NetworkStep {
    bool upper;
    int a, b;  ///< values, by number
};

/// A place in the tile's footprint, or a way from one to another.
struct NetworkOffset {
    int x, y;
};

/// What a network is given. Strips are as many columns as a tile is wide, cut to the rows that all windows of the tile
/// have in common.
struct NetworkInput {
    enum class Kind {
        pixel,   ///< at x, y of the footprint
        column,  ///< the y-th smallest of a strip's column x
        strip,   ///< the y-th smallest of the strip that begins at column x
    };
    Kind kind;
    int x, y;
};

/// Steps that run at the same depth of loops and read the same part of the footprint.
struct NetworkStage {
    int first_step;
    std::vector<NetworkOffset> shifts;  ///< of its inputs, in the second round of each loop that is around it
};

/// A list of minima and maxima, free of branches, that computes the medians of a tile of pixels.
///
/// The tile is halved by loops of two rounds, each inside the one before, until a part is left whose medians are
/// computed at once: the halves take the same steps, on other inputs. With one stage there are no loops.
///
/// Values are numbered: first the inputs, then one for each step. Inputs are those of the first rounds: shifts move
/// pixels, columns along x only, and strips not at all. A value that no median needs has no step; a pair of steps on
/// the same two values follow each other, the lower one first.
struct TileNetwork {
    int size = 0;                         ///< of the median, odd
    int tile_width = 0, tile_height = 0;  ///< in pixels
    int part_width = 0, part_height = 0;  ///< what is left of the tile inside all loops
    int footprint_width = 0, footprint_height = 0;
    std::vector<NetworkInput> inputs;  ///< the footprint, row by row; then what strips give
    std::vector<NetworkStep> steps;
    std::vector<NetworkStage> stages;  ///< the first one outside all loops, the last one inside all
    std::vector<int> medians;          ///< the value of each pixel of the first part, row by row

    int loops() const { return static_cast<int>(stages.back().shifts.size()); }
};

/// Sorts a strip, its columns first. Inputs are its pixels, row by row; steps are numbered as in a TileNetwork.
struct StripNetwork {
    int width = 0, height = 0;
    std::vector<NetworkStep> steps;
    std::vector<int> columns;  ///< rank r of column x at r + x * height
    std::vector<int> strip;    ///< by rank
};

/// Builds the network by hierarchical tiling (Sugy, "Fast median filters using hierarchical tiling", SIGGRAPH 2025; the
/// sharing of sorted columns is Adams's, SIGGRAPH 2021): what all windows of the tile have in common is sorted once,
/// column by column, and halving the tile again and again adds the columns or rows that the halves do not share, by
/// Batcher's odd-even merge. Ranks that can no longer be the median are dropped after each merge.
/// Sides of the tile are at most `size`, and powers of two if they are longer than `part_side`, to which loops halve
/// them.
TileNetwork make_tile_network(int size, int tile_width, int tile_height, int part_side);

/// The same for a tile whose neighbours share sorted strips: the strips that begin at every tile's column tile_side -
/// 1, and those before and behind as far as the footprint reaches. Parts are half as wide and high as the tile.
TileNetwork make_tile_network_of_strips(int size, int tile_side);
StripNetwork make_strip_network(int size, int tile_side);

}  // namespace framewire
