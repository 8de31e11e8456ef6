#pragma once

#include <vector>

namespace framewire {

/// One output of a compare-exchange operation: the smaller or the larger of two earlier values.
struct NetworkStep {
    /// If true, the output is the larger value, otherwise the smaller one.
    bool upper;
    int a, b;  ///< numbers of the values
};

/// A position in the tile's footprint, or the distance between two positions.
struct NetworkOffset {
    int x, y;
};

/// An input of a network. Strips are as many columns as a tile is wide, restricted to the rows that all windows of the
/// tile have in common.
struct NetworkInput {
    /// Kinds of inputs.
    enum class Kind {
        pixel,   ///< the pixel at (x, y) of the footprint
        column,  ///< the y-th smallest value of a strip's column x
        strip,   ///< the y-th smallest value of the strip that starts at column x
    };
    Kind kind;
    int x, y;
};

/// Steps that run at the same depth of loops and read the same part of the footprint.
struct NetworkStage {
    /// Index of the stage's first step.
    int first_step;
    std::vector<NetworkOffset> shifts;  ///< offsets of the inputs in the second round of each enclosing loop
};

/// A branch-free list of minima and maxima that computes the medians of a tile of pixels.
///
/// Nested loops of two rounds each halve the tile, until a part remains whose medians are computed at once. Both rounds
/// of a loop run the same steps on different inputs. With one stage there are no loops.
///
/// Values are numbered: first the inputs, then one value per step. Inputs are those of the first rounds; the shifts of
/// later rounds move pixels, move columns along x only, and do not move strips. A value that no median needs has no
/// step. The two steps on the same pair of values follow each other, the lower one first.
struct TileNetwork {
    int size = 0;                         ///< size of the median, odd
    int tile_width = 0, tile_height = 0;  ///< size of the tile in pixels
    int part_width = 0, part_height = 0;  ///< size of the part that remains inside all loops
    /// Pixels that the tile's windows read.
    int footprint_width = 0, footprint_height = 0;
    std::vector<NetworkInput> inputs;  ///< the footprint, row by row; then the inputs from strips
    std::vector<NetworkStep> steps;    ///< the comparisons, in order
    std::vector<NetworkStage> stages;  ///< stages; the first is outside all loops, the last inside all of them
    std::vector<int> medians;          ///< value that is the median of each pixel of the first part, row by row

    /// Returns the number of nested loops.
    int loops() const { return static_cast<int>(stages.back().shifts.size()); }
};

/// Sorts a strip, after sorting its columns. The inputs are the strip's pixels, row by row; steps are numbered as in
/// TileNetwork.
struct StripNetwork {
    /// Size of the strip, in pixels.
    int width = 0, height = 0;
    std::vector<NetworkStep> steps;
    std::vector<int> columns;  ///< value of rank r of column x, at r + x * height
    std::vector<int> strip;    ///< values by rank
};

/// Builds the network by hierarchical tiling (Sugy, "Fast median filters using hierarchical tiling", SIGGRAPH 2025;
/// sharing of sorted columns after Adams, SIGGRAPH 2021). Values that all windows of the tile have in common are sorted
/// once, column by column. Halving the tile repeatedly adds the columns or rows that the halves do not share, with
/// Batcher's odd-even merge. After each merge, ranks that can no longer be the median are dropped.
///
/// Sides of the tile are at most `size`. Sides longer than `part_side` must be powers of two; loops halve them to that
/// length.
TileNetwork make_tile_network(int size, int tile_width, int tile_height, int part_side);

/// Builds the network for tiles whose neighbours share sorted strips: those that start at column tile_side - 1 of every
/// tile, and the ones before and after, as far as the footprint reaches. Parts are half as wide and high as the tile.
TileNetwork make_tile_network_of_strips(int size, int tile_side);
/// Builds the network that sorts one strip of the tiles of make_tile_network_of_strips().
StripNetwork make_strip_network(int size, int tile_side);

}  // namespace framewire
