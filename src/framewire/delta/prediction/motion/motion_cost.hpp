#pragma once

#include "framewire/delta/prediction/part_modes.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace framewire::delta {

/// A vector and the estimated cost of a sub-block that is predicted with it, in 1/16 bits.
struct ScoredVector {
    MotionVector vector;
    int cost;
};

/// The cheapest vectors found so far, in ascending order of cost.
class BestVectors {
public:
    static constexpr int most = 8;

    /// Keeps at most `count` vectors, clamped to 1..most.
    explicit BestVectors(int count) : room_(std::clamp(count, 1, most)) {}
    /// Returns the cost from which on a vector is not kept.
    int limit() const { return count_ < room_ ? 1 << 30 : found_[static_cast<std::size_t>(count_) - 1].cost; }
    /// Adds a vector that costs less than limit(), unless it is there already. Behind vectors of equal cost.
    void offer(MotionVector vector, int cost) {
        for (const auto& one : all())
            if (one.vector == vector) return;
        count_ = std::min(count_ + 1, room_);
        auto at = static_cast<std::size_t>(count_) - 1;
        for (; at > 0 && found_[at - 1].cost > cost; --at) found_[at] = found_[at - 1];
        found_[at] = {vector, cost};
    }
    /// Returns the vectors.
    std::span<const ScoredVector> all() const { return {found_.data(), static_cast<std::size_t>(count_)}; }

private:
    int room_, count_ = 0;
    std::array<ScoredVector, most> found_;
};

/// A sub-block and the surroundings of its position in the previous picture, large enough for every vector and for
/// interpolation. Rows are padded so that they can be loaded as whole vectors.
struct MotionWindow {
    static constexpr int max_range = 15;  ///< maximum search range in pixels
    static constexpr int margin = max_range + 1;
    static constexpr int side = part_side + 2 * margin + 1;
    static constexpr int stride = side * 3 + 32;
    static constexpr int part_stride = 32;

    int channels = 3, rows = part_side;
    alignas(64) std::array<std::uint8_t, side * stride> before;
    alignas(64) std::array<std::uint8_t, part_side * part_stride> part,
        mask;  ///< the camera's samples; 255 for those inside the frame, else 0
};

/// Searches for motion and offers the vectors to `best`: first `near`, then all whole pixels up to `range` away in
/// raster order, then half and quarter pixels around the best ones.
///
/// The estimated cost of a prediction counts each sample that is off by more than `threshold`, and each step of
/// 2 * `threshold` + 1 beyond that. The cost of signalling the vector is added; it is lower for vectors in `near`.
void look_for_motion(const MotionWindow& window, int threshold, int range, std::span<const MotionVector> near,
                     BestVectors& best);

/// Interpolates rows of 24 samples (8 for one channel) bilinearly, `fraction_x` and `fraction_y` quarters of a pixel to
/// the right and below. Writes rows with a distance of 32 bytes. Whole vectors are read and written.
void interpolate(const std::uint8_t* from, std::int64_t stride, int channels, int fraction_x, int fraction_y, int rows,
                 std::uint8_t* to);

}  // namespace framewire::delta
