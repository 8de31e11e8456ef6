#pragma once

#include <cstdint>

namespace framewire {

/// A window that was found, in pixels of the frame, within it.
struct Detection {
    std::int32_t x, y, width, height;
    float score;

    friend constexpr bool operator==(const Detection&, const Detection&) = default;
};

}  // namespace framewire
