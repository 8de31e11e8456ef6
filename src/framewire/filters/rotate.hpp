#pragma once

#include "framewire/filters/filter.hpp"
#include "framewire/filters/pixel_moves.hpp"

#include <cstdint>
#include <optional>

namespace framewire {

/// Parameters of Rotate.
struct RotateParameters {
    double degrees = 90;  ///< clockwise, -360..360
    bool whole = true;    ///< true: the result holds the whole image; false: it has the image's size
    Pixel color = 0;      ///< color where the image does not reach
};

/// Maps the centers of a result's pixels to the image, in units of 2^-32 pixels: pixel (x, y) comes from (start_x + x *
/// step_x - y * step_y, start_y + x * step_y + y * step_x).
struct RotateMap {
    /// Source of pixel (0, 0).
    std::int64_t start_x, start_y;
    /// Cosine and negative sine of the angle, in the map's units.
    std::int64_t step_x, step_y;
};

/// Fractional bits of a RotateMap, and of a position between two pixels.
inline constexpr int rotate_map_bits = 32,  ///< for a RotateMap
    rotate_place_bits = 8;                  ///< for a position between two pixels

/// A position along one axis: the pixel before it, and the distance from that pixel in 2^-8 pixels, rounded with
/// halves up.
struct RotatePlace {
    /// Pixel at or before the position.
    int pixel;
    /// Distance from that pixel, 0..255.
    int behind;
};

/// Rounds a coordinate of a RotateMap.
FRAMEWIRE_HOST_DEVICE constexpr RotatePlace rotate_place(std::int64_t at) {
    constexpr int shift = rotate_map_bits - rotate_place_bits;
    const auto rounded = (at + (std::int64_t{1} << (shift - 1))) >> shift;
    return {static_cast<int>(rounded >> rotate_place_bits), static_cast<int>(rounded & ((1 << rotate_place_bits) - 1))};
}

/// Bilinear interpolation of four neighbours, a and b above c and d; `right` and `down` are the distances from a in
/// 2^-8 pixels. Rounded to nearest, halves up.
FRAMEWIRE_HOST_DEVICE constexpr int rotate_blend(int a, int b, int c, int d, int right, int down) {
    constexpr int one = 1 << rotate_place_bits;
    const int above = a * (one - right) + b * right, below = c * (one - right) + d * right;
    return (above * (one - down) + below * down + one * one / 2) >> (2 * rotate_place_bits);
}

/// Rotates images about their center. For right angles, if the result holds the whole image or is square, pixels move
/// unchanged. Otherwise each pixel is interpolated bilinearly from the four around its source, with 8-bit weights,
/// rounded to nearest with halves up. Pixels outside the image have the border color, also for the interpolation at its
/// edge.
///
/// `in` and `out`: 1 or 3 channels, any strides and alignment, no overlap.
class Rotate {
public:
    /// Throws Error{usage} on angles and shapes that are not allowed, including the shape of the result.
    Rotate(const RotateParameters& parameters, const Shape& shape, Executor& executor);

    /// Shape of the result.
    const Shape& output_shape() const { return to_; }
    /// The map that interpolation uses. Not set if pixels move unchanged.
    const RotateMap& map() const { return map_; }

    /// On the executor's threads; returns when done.
    void run(const FilterImages<MemorySpace::host>& images) const;
    /// Queued on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images) const;

private:
    /// Interpolates, on either backend.
    void blend(const FilterImages<MemorySpace::host>& images) const;
    void blend(const FilterImages<MemorySpace::device>& images) const;

    Shape from_, to_;
    Pixel color_;
    Executor* executor_;
    RotateMap map_{};
    std::optional<PixelMoves> moves_;
};

/// Registry entry of `rotate`.
FilterInfo rotate_info();

}  // namespace framewire
