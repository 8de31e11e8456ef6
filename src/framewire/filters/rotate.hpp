#pragma once

#include "framewire/filters/filter.hpp"
#include "framewire/filters/pixel_moves.hpp"

#include <cstdint>
#include <optional>

namespace framewire {

/// Parameters of Rotate.
struct RotateParameters {
    double degrees = 90;  ///< angle in degrees, clockwise, -360..360
    /// True: the result is large enough for the whole rotated image; false: it has the image's size.
    bool whole = true;
    Pixel color = 0;  ///< colour of the pixels that the image does not cover
};

/// Maps the centers of a result's pixels to the image, in units of 2^-32 pixels: pixel (x, y) comes from (start_x + x *
/// step_x - y * step_y, start_y + x * step_y + y * step_x).
struct RotateMap {
    /// Source of pixel (0, 0).
    std::int64_t start_x, start_y;
    /// Cosine and negative sine of the angle, in the map's units.
    std::int64_t step_x, step_y;
};

/// Numbers of fractional bits.
inline constexpr int rotate_map_bits = 32,  ///< of a RotateMap
    rotate_place_bits = 8;                  ///< of a position between two pixels

/// A position along one axis: the pixel before it, and the distance from that pixel in 2^-8 pixels, rounded with
/// halves up.
struct RotatePlace {
    /// Pixel at or before the position.
    int pixel;
    /// Distance from that pixel, 0..255.
    int behind;
};

/// Rounds a coordinate of a RotateMap to a position.
FRAMEWIRE_HOST_DEVICE constexpr RotatePlace rotate_place(std::int64_t at) {
    constexpr int shift = rotate_map_bits - rotate_place_bits;
    const auto rounded = (at + (std::int64_t{1} << (shift - 1))) >> shift;
    return {static_cast<int>(rounded >> rotate_place_bits), static_cast<int>(rounded & ((1 << rotate_place_bits) - 1))};
}

/// Interpolates bilinearly between four neighbours, a and b above c and d; `right` and `down` are the distances from a
/// in 2^-8 pixels. Rounds to nearest, halves up.
FRAMEWIRE_HOST_DEVICE constexpr int rotate_blend(int a, int b, int c, int d, int right, int down) {
    constexpr int one = 1 << rotate_place_bits;
    const int above = a * (one - right) + b * right, below = c * (one - right) + d * right;
    return (above * (one - down) + below * down + one * one / 2) >> (2 * rotate_place_bits);
}

/// Rotates images about their center. Rotations by right angles move pixels unchanged if the result holds the whole
/// image or the image is square. Otherwise each pixel is interpolated bilinearly from the four around its source, with
/// 8-bit weights, rounded to nearest with halves up. Pixels outside the image have the border colour, also when pixels
/// at its edge are interpolated.
///
/// `in` and `out` have 1 or 3 channels, any strides and alignment. They must not overlap.
class Rotate {
public:
    /// Prepares the filter. Throws Error{usage} if the angle, the shape or the shape of the result is not allowed.
    Rotate(const RotateParameters& parameters, const Shape& shape, Executor& executor);

    /// Returns the shape of the result.
    const Shape& output_shape() const { return to_; }
    /// Returns the map used to interpolate. Not set if pixels move unchanged.
    const RotateMap& map() const { return map_; }

    /// Runs on the executor's threads and returns when done.
    void run(const FilterImages<MemorySpace::host>& images) const;
    /// Queues the filter on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images) const;

private:
    /// Interpolates on the backend of the images.
    void blend(const FilterImages<MemorySpace::host>& images) const;
    void blend(const FilterImages<MemorySpace::device>& images) const;

    Shape from_, to_;
    Pixel color_;
    Executor* executor_;
    RotateMap map_{};
    std::optional<PixelMoves> moves_;
};

/// Returns the registry entry of `rotate`.
FilterInfo rotate_info();

}  // namespace framewire
