#pragma once

#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/hog/hog.hpp"
#include "framewire/hog/people/window_scores/window_scores_scratch.hpp"
#include "framewire/hog/window_model.hpp"

#include <cstddef>
#include <cstdint>

namespace framewire {

/// The windows of an image, one a cell in both directions.
struct WindowGrid {
    int rows = 0, columns = 0;

    constexpr std::int64_t count() const { return std::int64_t{rows} * columns; }
};

/// What WindowScores reads behind the last value of the descriptors, on the CPU.
inline constexpr std::size_t window_scores_margin_bytes = 64;

/// The scores of all windows of an image from its descriptors (Dalal and Triggs 2005): of each the product of the
/// model's weights with the window's part of the descriptors, plus the bias. Nothing is copied together: windows that
/// lie side by side and one above the other pass over the descriptors at once. In single precision; each backend gives
/// the same bits every time. Keeps no state: for any image of the model's descriptors, for many runs at a time.
class WindowScores {
public:
    /// Throws as validate(model) does. On CUDA it brings the weights to the GPU.
    WindowScores(const WindowModel& model, Executor& executor);

    /// None where the descriptors are those of an image smaller than the window. Throws Error{usage} on descriptors of
    /// more than one frame or of other values than the model's.
    WindowGrid grid(const HogShape& descriptors) const;

    /// Writes grid().count() scores, row by row. On the CPU the descriptors have window_scores_margin_bytes to read
    /// behind them, finite numbers. On the executor's threads; returns when done.
    void run(HogView<const float, MemorySpace::host> descriptors, float* scores) const;
    /// Queued on the executor's stream.
    void run(HogView<const float, MemorySpace::device> descriptors, float* scores) const;

private:
    static void allow_memory();

    HogShape window_;  // one window's descriptor
    float bias_;
    Executor* executor_;
    std::int64_t stride_ = 0;  // CPU: values from one row of weights to the next
    WindowTiles tiles_;        // CUDA
    // CPU: rows padded to whole vectors with zeros, with rows of zeros above and below. CUDA: as WindowTiles has them.
    BackendBuffer weights_;
};

}  // namespace framewire
