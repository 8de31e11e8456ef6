#pragma once

#include "framewire/delta/prediction/part_modes.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace framewire::delta {

/// A vector and what a part moved by it costs, roughly, in 1/16 bits.
struct ScoredVector {
    MotionVector vector;
    int cost;
};

/// The best vectors found so far, the best first.
class BestVectors {
public:
    static constexpr int most = 8;

    /// Of at most `count`.
    explicit BestVectors(int count) : room_(std::clamp(count, 1, most)) {}
    /// Vectors of this cost or more are not among them.
    int limit() const { return count_ < room_ ? 1 << 30 : found_[static_cast<std::size_t>(count_) - 1].cost; }
    /// Puts a vector among them that costs less than limit(). One that costs as much as another comes behind it.
    void offer(MotionVector vector, int cost) {
        for (const auto& one : all())
            if (one.vector == vector) return;
        count_ = std::min(count_ + 1, room_);
        auto at = static_cast<std::size_t>(count_) - 1;
        for (; at > 0 && found_[at - 1].cost > cost; --at) found_[at] = found_[at - 1];
        found_[at] = {vector, cost};
    }
    std::span<const ScoredVector> all() const { return {found_.data(), static_cast<std::size_t>(count_)}; }

private:
    int room_, count_ = 0;
    std::array<ScoredVector, most> found_;
};

/// A part with so much of the picture before around it that any vector stays inside, bilinear neighbours too. Rows have
/// room to be loaded in whole vectors.
struct MotionWindow {
    static constexpr int max_range = 15;  ///< pixels each way
    static constexpr int margin = max_range + 1;
    static constexpr int side = part_side + 2 * margin + 1;
    static constexpr int stride = side * 3 + 32;
    static constexpr int part_stride = 32;

    int channels = 3, rows = part_side;
    alignas(64) std::array<std::uint8_t, side * stride> before;
    alignas(64) std::array<std::uint8_t, part_side * part_stride> part, mask;  ///< `mask`: 255 for what counts, else 0
};

/// Offers vectors to `best`: `near`, all whole pixels up to `range` away in the order of rows, and then those around
/// the best of them by halves and quarters. What a part costs counts for each sample that is off by more than
/// `threshold`, and more for each step of 2 * `threshold` + 1; a vector costs, too, those of `near` less.
void look_for_motion(const MotionWindow& window, int threshold, int range, std::span<const MotionVector> near,
                     BestVectors& best);

/// Rows of 24 samples (8 of one channel) between pixels, `fraction_x` and `fraction_y` quarters to the right and below.
/// Writes rows of 32.
void interpolate(const std::uint8_t* from, std::int64_t stride, int channels, int fraction_x, int fraction_y, int rows,
                 std::uint8_t* to);

}  // namespace framewire::delta
