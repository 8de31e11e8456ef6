#pragma once

#include "framewire/core/host_device.hpp"

#include <algorithm>
#include <cstddef>

// How the weights lie in memory, and on CUDA what a block has of windows and descriptors.

namespace framewire {

/// Values that a row of weights is a multiple of on the CPU: the largest vector's.
inline constexpr int window_weights_group = 16;

/// On the CPU, rows of zeros above and below, so that windows one above the other pass over the same rows of
/// descriptors.
inline constexpr int window_weights_rows_around = 2;

/// On CUDA values of a place are taken four at a time, the last filled up with zeros. Weights lie quad by quad, each
/// column by column of the window, each row by row.
inline constexpr int window_quad = 4;

/// How CUDA cuts windows into tiles, a block each, and windows that its memory has no room for into parts.
struct WindowTiles {
    static constexpr int windows_of_lane = 8;  ///< one above the other
    static constexpr int row_warps = 2, quads_at_once = 3;
    static constexpr int columns = 32, rows = row_warps * windows_of_lane;  ///< windows of a tile

    int window_rows = 0, window_columns = 0, quads = 0;
    int part_rows = 0, part_columns = 0;  ///< of the window

    /// Places of the descriptors that a tile lies on, for one part of its windows.
    FRAMEWIRE_HOST_DEVICE constexpr int tile_rows() const { return rows + part_rows - 1; }
    FRAMEWIRE_HOST_DEVICE constexpr int tile_columns() const { return columns + part_columns - 1; }
    constexpr std::size_t memory_bytes() const {
        const int places = tile_rows() * tile_columns() + part_rows * part_columns;
        return static_cast<std::size_t>(places) * quads_at_once * window_quad * sizeof(float);
    }

    WindowTiles() = default;
    /// For a window of so many places and values, in at most `most_bytes` of memory: of 48 KB on there is room for any.
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
