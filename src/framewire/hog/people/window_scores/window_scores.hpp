#pragma once

#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/hog/hog.hpp"
#include "framewire/hog/people/window_scores/window_scores_scratch.hpp"
#include "framewire/hog/window_model.hpp"

#include <cstddef>
#include <cstdint>

namespace framewire {

/// The windows of an image, one per cell in both directions.
struct WindowGrid {
    int rows = 0, columns = 0;

    /// Returns the number of windows.
    constexpr std::int64_t count() const { return std::int64_t{rows} * columns; }
};

/// Bytes that WindowScores reads after the last value of the descriptors, on the CPU.
inline constexpr std::size_t window_scores_margin_bytes = 64;

/// Computes the scores of all windows of an image from its descriptors (Dalal and Triggs 2005): the dot product
/// of the model's weights with the window's part of the descriptors, plus the bias. The parts are not copied:
/// adjacent windows read the descriptors together. Single precision; each backend returns the same bits every
/// time. Stateless: for any image with the model's descriptors, and for concurrent runs.
class WindowScores {
public:
    /// Throws what validate(model) throws. On CUDA it copies the weights to the GPU.
    WindowScores(const WindowModel& model, Executor& executor);

    /// Returns the number of windows, none if the image is smaller than the window. Throws Error{usage} if
    /// there is more than one frame or if the values are not those of the model.
    WindowGrid grid(const HogShape& descriptors) const;

    /// Writes grid().count() scores, row by row. On the CPU, window_scores_margin_bytes after the descriptors
    /// must be readable and contain finite numbers. Runs on the executor's threads and returns when done.
    void run(HogView<const float, MemorySpace::host> descriptors, float* scores) const;
    /// The same, queued on the executor's stream.
    void run(HogView<const float, MemorySpace::device> descriptors, float* scores) const;

private:
    static void allow_memory();

    HogShape window_;  // descriptor of one window
    float bias_;
    Executor* executor_;
    std::int64_t stride_ = 0;  // CPU: values per row of weights
    WindowTiles tiles_;        // CUDA
    // CPU: rows padded with zeros to whole vectors, with rows of zeros above and below. CUDA: as WindowTiles
    // describes.
    BackendBuffer weights_;
};

}  // namespace framewire
