#pragma once

#include "framewire/core/view.hpp"
#include "framewire/delta/prediction/motion/motion_cost.hpp"
#include "framewire/delta/prediction/part_modes.hpp"

#include <cstdint>
#include <span>

namespace framewire::delta {

/// Motion search for sub-blocks. The criterion is the number of samples that are off by more than the threshold and the
/// number of steps that correct them, not the sum of squares, because differences within the threshold cost nothing.
/// Not thread-safe; keeps its memory between calls.
class MotionSearch {
public:
    /// Finds up to `count` vectors for the sub-block of `camera` with the upper left pixel (x, y) and `width` x
    /// `height` pixels, predicted from `before`, in ascending order of cost. The zero vector is not among them.
    /// `range`: pixels, at most MotionWindow::max_range. `near`: vectors of neighbours, which are tried too and cost
    /// less. The result is valid until the next call.
    std::span<const ScoredVector> find(HostView<const std::uint8_t> camera, HostView<const std::uint8_t> before, int x,
                                       int y, int width, int height, int threshold, int range, int count,
                                       std::span<const MotionVector> near);

private:
    // Loads the window: all columns, but only the rows up to `reach` pixels above and below.
    void load(HostView<const std::uint8_t> camera, HostView<const std::uint8_t> before, int x, int y, int width,
              int height, int reach);

    MotionWindow window_;
    BestVectors best_{1};
};

}  // namespace framewire::delta
