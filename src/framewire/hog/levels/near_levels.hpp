#pragma once

#include "framewire/hog/hog_arithmetic.hpp"

#include <cstdint>
#include <optional>

namespace framewire {

/// What HogNearLevels counts of some of an image's pixels.
struct HogNearCounts {
    static constexpr int edges_each = 4, edges = 3 * edges_each;

    std::uint64_t below[edges] = {};  ///< pixels below each edge
    std::uint8_t largest = 0;

    void add(const HogNearCounts& other);
};

/// Finds a frame's levels where they are near those of the frame before, as of most cameras: then pixels below a few
/// edges of the gamma's bins are all that needs counting, in a third of a histogram's time. The same levels as by
/// hog_levels().
class HogNearLevels {
public:
    explicit HogNearLevels(const HogLevels& before);

    /// Adds what there is in a row of gray pixels.
    void count(const std::uint8_t* gray, std::int64_t pixels, HogNearCounts& counts) const;

    /// The levels of an image of so many pixels, of which these are the counts; none where one of them is further off
    /// than a bin.
    std::optional<HogLevels> found(const HogNearCounts& counts, std::uint64_t pixels) const;

private:
    int firsts_[3];  // bins of the first edges around each level
};

}  // namespace framewire
