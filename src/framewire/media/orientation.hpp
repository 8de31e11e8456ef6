#pragma once

#include "framewire/core/view.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace framewire {

/// Returns the orientation tag of EXIF data, 1 to 8, which says how to rotate or mirror the stored picture for display.
/// `data` starts with a TIFF header and a directory of tags (TIFF 6.0, sections 2 and 8; EXIF 2.3, 4.5 and 4.6.4 A), so
/// the start of a TIFF file works as well. Returns 0 if there is no such tag, or if `data` is something else or
/// truncated.
int exif_orientation(std::span<const std::uint8_t> data);

/// Orientation of a stored picture: one of the eight symmetries of a rectangle. To display the picture, first
/// transpose it (exchange rows and columns) if `transposed`, then mirror it.
struct Orientation {
    bool transposed = false;
    bool mirrored_across = false;  ///< left and right are exchanged
    bool mirrored_down = false;    ///< top and bottom are exchanged

    friend bool operator==(const Orientation&, const Orientation&) = default;

    /// Returns true if the picture is displayed as stored.
    bool upright() const { return *this == Orientation{}; }
    /// Returns the shape of the displayed picture for the shape of a stored one, and vice versa.
    Shape turned(const Shape& stored) const;
};

/// Returns the orientation for a display matrix (nine numbers as in libavutil/display.h); nullopt if its rotation is
/// not a multiple of 90 degrees.
std::optional<Orientation> orientation_of_matrix(const std::int32_t* matrix);

/// Returns the orientation for EXIF's Orientation tag; numbers other than 1 to 8 give the upright orientation.
Orientation orientation_of_exif(std::int64_t number);

/// Writes the displayed form of `stored` to `seen`, which must have the shape orientation.turned(stored.shape()) and
/// must not overlap `stored`.
void turn(HostView<const std::uint8_t> stored, const Orientation& orientation, HostView<std::uint8_t> seen);

}  // namespace framewire
