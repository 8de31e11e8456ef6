#pragma once

#include "framewire/hog/hog.hpp"

#include <cstdint>
#include <optional>

namespace framewire {

/// Counts of some pixels of an image for HogNearLevels.
struct HogNearCounts {
    static constexpr int edges_each = 4, edges = 3 * edges_each;

    std::uint64_t below[edges] = {};  ///< number of pixels below each edge
    std::uint8_t largest = 0;

    /// Adds the counts of other pixels.
    void add(const HogNearCounts& other);
};

/// Finds the levels of a frame if they are near those of the previous frame, as with most cameras. Then it is
/// sufficient to count the pixels below a few edges of the gamma's bins, which takes a third of the time of a
/// histogram. The levels equal those of hog_levels().
class HogNearLevels {
public:
    /// Prepares to count around the levels of the previous frame.
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
