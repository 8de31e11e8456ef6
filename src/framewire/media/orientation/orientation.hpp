#pragma once

#include "framewire/core/view.hpp"

#include <cstdint>
#include <optional>

namespace framewire {

/// How a picture lies in a file: one of the eight ways a rectangle lies on itself. To be seen its sides are exchanged
/// about the diagonal from the top left (`transposed`), then it is mirrored.
struct Orientation {
    bool transposed = false;
    bool mirrored_across = false;  ///< left and right are exchanged
    bool mirrored_down = false;    ///< top and bottom are exchanged

    friend bool operator==(const Orientation&, const Orientation&) = default;

    bool upright() const { return *this == Orientation{}; }
    /// The shape of a picture of `stored` as it is seen; and of a seen one as it is stored.
    Shape turned(const Shape& stored) const;
};

/// What a display matrix asks for (nine numbers as in libavutil/display.h); nothing where that is no quarter turn.
std::optional<Orientation> orientation_of_matrix(const std::int32_t* matrix);

/// What EXIF's tag Orientation asks for; other numbers than 1 to 8 ask for nothing.
Orientation orientation_of_exif(std::int64_t number);

/// Puts `stored` as it is to be seen into `seen`, which has orientation.turned() of its shape and other memory.
void turn(HostView<const std::uint8_t> stored, const Orientation& orientation, HostView<std::uint8_t> seen);

}  // namespace framewire
