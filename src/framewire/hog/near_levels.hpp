#pragma once

#include "framewire/hog/hog.hpp"

#include <cstdint>
#include <optional>

namespace framewire {

/// Counts of HogNearLevels over some pixels of an image.
struct HogNearCounts {
    static constexpr int edges_each = 4, edges = 3 * edges_each;

    std::uint64_t below[edges] = {};  ///< pixels below each edge
    std::uint8_t largest = 0;

    /// Adds the counts of other pixels.
    void add(const HogNearCounts& other);
};

/// Finds the levels of a frame that are near those of the frame before, as with most cameras: then it suffices
/// to count the pixels below a few edges of the gamma's bins, which takes a third of the time of a histogram.
/// The levels equal those of hog_levels().
class HogNearLevels {
public:
    /// Prepares to count around the levels of the frame before.
    explicit HogNearLevels(const HogLevels& before);

    /// Adds the counts of a row of gray pixels.
    void count(const std::uint8_t* gray, std::int64_t pixels, HogNearCounts& counts) const;

    /// Returns the levels of an image of `pixels` pixels with these counts, or nothing if one of them has moved
    /// by more than a bin.
    std::optional<HogLevels> found(const HogNearCounts& counts, std::uint64_t pixels) const;

private:
    int firsts_[3];  // bins of the first edges around each level
};

}  // namespace framewire
