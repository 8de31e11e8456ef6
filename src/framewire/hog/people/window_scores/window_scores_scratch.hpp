#pragma once

#include "framewire/core/host_device.hpp"

#include <algorithm>
#include <cstddef>

// Memory layout of the weights and, on CUDA, of a block's windows and descriptors.

namespace framewire {

/// On the CPU the values per row of weights are a multiple of this: the lanes of the largest vector.
inline constexpr int window_weights_group = 16;

/// Rows of zeros above and below the weights on the CPU, which allow windows above each other to use the same
/// rows of descriptors.
inline constexpr int window_weights_rows_around = 2;

/// On CUDA the values of a place are processed four at a time, the last ones padded with zeros. Weights are
/// stored quad by quad, within a quad column by column of the window, and within a column row by row.
inline constexpr int window_quad = 4;

/// How CUDA divides windows into tiles, one per block, and large windows into parts that fit shared memory.
struct WindowTiles {
    static constexpr int windows_of_lane = 8;  ///< above each other
    static constexpr int row_warps = 2, quads_at_once = 3;
    static constexpr int columns = 32, rows = row_warps * windows_of_lane;  ///< windows per tile

    int window_rows = 0, window_columns = 0, quads = 0;
    int part_rows = 0, part_columns = 0;  ///< size of a part of the window, in places

    /// Places of the descriptors under a tile, for one part of its windows.
    FRAMEWIRE_HOST_DEVICE constexpr int tile_rows() const { return rows + part_rows - 1; }
    FRAMEWIRE_HOST_DEVICE constexpr int tile_columns() const { return columns + part_columns - 1; }
    // Returns the shared memory of a block: descriptors and weights.
    constexpr std::size_t memory_bytes() const {
        const int places = tile_rows() * tile_columns() + part_rows * part_columns;
        return static_cast<std::size_t>(places) * quads_at_once * window_quad * sizeof(float);
    }

    WindowTiles() = default;
    /// Plans for a window of `window_rows_` x `window_columns_` places with `values` values each, in at most
    /// `most_bytes` of shared memory. 48 KiB suffice for any window.
    WindowTiles(int window_rows_, int window_columns_, int values, std::size_t most_bytes)
        : window_rows(window_rows_),
          window_columns(window_columns_),
          quads((values + window_quad - 1) / window_quad),
          part_rows(window_rows_),
          part_columns(std::min(window_columns_, 8)) {
        while (memory_bytes() > most_bytes && part_rows > 1) part_rows = (part_rows + 1) / 2;
    }
};

inline constexpr int window_tile_threads = 32 * WindowTiles::row_warps * WindowTiles::quads_at_once;

}  // namespace framewire
