#pragma once

#include "framewire/core/view.hpp"
#include "framewire/delta/prediction/part_modes.hpp"

#include <array>
#include <cstdint>
#include <span>

namespace framewire::delta {

/// A vector and what a part moved by it costs, roughly, in 1/16 bits.
struct ScoredVector {
    MotionVector vector;
    int cost;
};

/// Looks for the places of a picture that a part of another one may have come from. What counts is how many samples are
/// off by more than the threshold, and by how many steps: not squares, since what is within the threshold costs
/// nothing.
class MotionSearch {
public:
    static constexpr int max_range = 15;  ///< pixels each way
    static constexpr int max_found = 8;

    /// The best vectors for the part of `camera` with the upper left pixel (x, y) and `width` x `height` pixels, from
    /// `before`: at most `count`, the best first, each better than none by its cost. `near` are tried too, and cost
    /// less.
    std::span<const ScoredVector> find(HostView<const std::uint8_t> camera, HostView<const std::uint8_t> before, int x,
                                       int y, int width, int height, int threshold, int range, int count,
                                       std::span<const MotionVector> near);

private:
    // One part with so much around it that any vector stays inside, bilinear neighbours too. Rows have room to be
    // loaded in whole vectors.
    static constexpr int margin = max_range + 1;
    static constexpr int window_side = 8 + 2 * margin + 1;
    static constexpr int window_stride = window_side * 3 + 32;
    static constexpr int part_stride = 32;

    void load(HostView<const std::uint8_t> camera, HostView<const std::uint8_t> before, int x, int y, int width,
              int height);
    void offer(MotionVector vector, int cost, int count);
    int cost_of(MotionVector vector, int limit);

    int channels_ = 3, height_ = 8, threshold_ = 0, step_ = 1;
    alignas(64) std::array<std::uint8_t, window_side * window_stride> window_;
    alignas(64) std::array<std::uint8_t, 8 * part_stride> part_, mask_, moved_;
    std::array<ScoredVector, max_found> found_;
    int found_count_ = 0;
};

}  // namespace framewire::delta
