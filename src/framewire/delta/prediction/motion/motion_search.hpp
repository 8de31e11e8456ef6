#pragma once

#include "framewire/core/view.hpp"
#include "framewire/delta/prediction/motion/motion_cost.hpp"
#include "framewire/delta/prediction/part_modes.hpp"

#include <cstdint>
#include <span>

namespace framewire::delta {

/// Looks for the places of a picture that a part of another one may have come from. What counts is how many samples are
/// off by more than the threshold, and by how many steps: not squares, since what is within the threshold costs
/// nothing.
class MotionSearch {
public:
    /// The best vectors for the part of `camera` with the upper left pixel (x, y) and `width` x `height` pixels, from
    /// `before`: at most `count`, the best first, each better than none by its cost. `near` are tried too, and cost
    /// less.
    std::span<const ScoredVector> find(HostView<const std::uint8_t> camera, HostView<const std::uint8_t> before, int x,
                                       int y, int width, int height, int threshold, int range, int count,
                                       std::span<const MotionVector> near);

private:
    /// With the picture before `reach` pixels up and down, and all the window's to the sides.
    void load(HostView<const std::uint8_t> camera, HostView<const std::uint8_t> before, int x, int y, int width,
              int height, int reach);

    MotionWindow window_;
    BestVectors best_{1};
};

}  // namespace framewire::delta
