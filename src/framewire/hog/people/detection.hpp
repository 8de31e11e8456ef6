#pragma once

#include <cstdint>

namespace framewire {

/// A box that was detected, in pixels of the frame and within it, with its score.
struct Detection {
    std::int32_t x, y, width, height;
    float score;

    friend constexpr bool operator==(const Detection&, const Detection&) = default;
};

}  // namespace framewire
