#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/hog/hog.hpp"
#include "framewire/hog/window_model.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

// Memory layout of the weights and, on CUDA, of the windows and descriptors of a block.

namespace framewire {

/// Number of lanes of the largest vector. On the CPU the values per row of weights are a multiple of it.
inline constexpr int window_weights_group = 16;

/// Number of rows of zeros above and below the weights on the CPU. They allow windows one above the other to use the
/// same rows of descriptors.
inline constexpr int window_weights_rows_around = 2;

/// Number of values of a place that CUDA processes at a time; the last ones are padded with zeros. Weights are stored
/// quad by quad, within a quad column by column of the window, and within a column row by row.
inline constexpr int window_quad = 4;

/// Division of windows into tiles, one per block, and of large windows into parts that fit shared memory, on CUDA.
struct WindowTiles {
    static constexpr int windows_of_lane = 8;  ///< number of windows, one above the other, that a lane scores
    static constexpr int row_warps = 2, quads_at_once = 3;
    static constexpr int columns = 32, rows = row_warps * windows_of_lane;  ///< windows per tile

    int window_rows = 0, window_columns = 0, quads = 0;
    int part_rows = 0, part_columns = 0;  ///< size of a part of the window, in places

    /// Returns the rows of places of the descriptors under a tile, for one part of its windows.
    FRAMEWIRE_HOST_DEVICE constexpr int tile_rows() const { return rows + part_rows - 1; }
    /// Returns the columns of these places.
    FRAMEWIRE_HOST_DEVICE constexpr int tile_columns() const { return columns + part_columns - 1; }
    /// Returns the shared memory of a block in bytes: descriptors and weights.
    constexpr std::size_t memory_bytes() const {
        const int places = tile_rows() * tile_columns() + part_rows * part_columns;
        return static_cast<std::size_t>(places) * quads_at_once * window_quad * sizeof(float);
    }

    WindowTiles() = default;
    /// Plans tiles for a window of `window_rows_` x `window_columns_` places with `values` values each, in at most
    /// `most_bytes` of shared memory. 48 KiB are sufficient for any window.
    WindowTiles(int window_rows_, int window_columns_, int values, std::size_t most_bytes)
        : window_rows(window_rows_),
          window_columns(window_columns_),
          quads((values + window_quad - 1) / window_quad),
          part_rows(window_rows_),
          part_columns(std::min(window_columns_, 8)) {
        while (memory_bytes() > most_bytes && part_rows > 1) part_rows = (part_rows + 1) / 2;
    }
};

/// Number of threads in a block, which scores one tile.
inline constexpr int window_tile_threads = 32 * WindowTiles::row_warps * WindowTiles::quads_at_once;

/// The windows of an image, one per cell in both directions.
struct WindowGrid {
    int rows = 0, columns = 0;

    /// Returns the number of windows.
    constexpr std::int64_t count() const { return std::int64_t{rows} * columns; }
};

/// Number of bytes that WindowScores reads after the last value of the descriptors on the CPU.
inline constexpr std::size_t window_scores_margin_bytes = 64;

/// Computes the scores of all windows of an image from its descriptors (Dalal and Triggs 2005): the dot product of the
/// model's weights with the window's part of the descriptors, plus the bias. Adjacent windows read the same
/// descriptors; no parts are copied. Uses single precision; each backend always returns the same bits. Stateless: it
/// can be used for any image with the model's descriptors, and for concurrent runs.
class WindowScores {
public:
    /// Throws the errors of validate(model). On CUDA, copies the weights to the GPU.
    WindowScores(const WindowModel& model, Executor& executor);

    /// Returns the windows of an image, none if it is smaller than a window. Throws Error{usage} if there is more than
    /// one frame or if the values are not those of the model.
    WindowGrid grid(const HogShape& descriptors) const;

    /// Writes grid().count() scores, row by row. On the CPU, window_scores_margin_bytes after the descriptors
    /// must be readable and contain finite numbers. Runs on the executor's threads and returns when done.
    void run(HogView<const float, MemorySpace::host> descriptors, float* scores) const;
    /// Queues the computation of the scores on the executor's stream.
    void run(HogView<const float, MemorySpace::device> descriptors, float* scores) const;

private:
    static void allow_memory();

    HogShape window_;  // descriptor of one window
    float bias_;
    Executor* executor_;
    std::int64_t stride_ = 0;  // CPU only: values per row of weights
    WindowTiles tiles_;        // CUDA only: division into tiles
    // CPU: rows padded with zeros to whole vectors, with rows of zeros above and below. CUDA: in the order that
    // WindowTiles describes.
    BackendBuffer weights_;
};

}  // namespace framewire
