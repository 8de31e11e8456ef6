#pragma once

#include <algorithm>
#include <cstdint>

namespace framewire::synth {

/// One millimetre: lengths in the room are in units of 1/16 mm.
inline constexpr std::int64_t mm = 16;

/// Bounds of the room: x to the right, y down, z away from the camera, which is at the origin and looks along z.
inline constexpr std::int64_t floor_y = 1500 * mm;
inline constexpr std::int64_t ceiling_y = -1250 * mm;
inline constexpr std::int64_t left_x = -2900 * mm;
inline constexpr std::int64_t right_x = 2700 * mm;
inline constexpr std::int64_t back_z = 7000 * mm;

/// Pinhole camera with the horizon at 2/5 of the height and a horizontal field of view of 64 degrees at 16:9.
class Camera {
public:
    Camera(int width_px, int height_px)
        : width_px_(width_px),
          height_px_(height_px),
          focal_(std::max<std::int64_t>(
              {std::int64_t{width_px} * 16 * 4 / 5, std::int64_t{height_px} * 16 * 64 / 45, 1})) {}

    int width_px() const { return static_cast<int>(width_px_); }
    int height_px() const { return static_cast<int>(height_px_); }

    /// Slopes (times 65536) of the ray through a point of the picture, whose coordinates are in 1/16 pixel.
    std::int64_t slope_x(std::int64_t x_16) const { return (x_16 - std::int64_t{8} * width_px_) * 65536 / focal_; }
    std::int64_t slope_y(std::int64_t y_16) const {
        return (y_16 - std::int64_t{16} * height_px_ * 2 / 5) * 65536 / focal_;
    }

    /// Projects a point of the room to the picture, in 1/16 pixel.
    std::int64_t picture_x(std::int64_t x, std::int64_t z) const {
        return x * focal_ / z + std::int64_t{8} * width_px_;
    }
    std::int64_t picture_y(std::int64_t y, std::int64_t z) const {
        return y * focal_ / z + std::int64_t{16} * height_px_ * 2 / 5;
    }

    /// Half the width of the room that is visible at depth z.
    std::int64_t half_width(std::int64_t z) const { return z * 8 * width_px_ / focal_; }

private:
    std::int64_t width_px_;
    std::int64_t height_px_;
    std::int64_t focal_;  // in 1/16 pixel
};

}  // namespace framewire::synth
