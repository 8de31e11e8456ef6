#pragma once

#include "framewire/filters/filter.hpp"
#include "framewire/filters/geometry/pixel_moves.hpp"

#include <cstdint>
#include <optional>

namespace framewire {

struct RotateParameters {
    double degrees = 90;  ///< clockwise, -360 to 360
    bool whole = true;    ///< the result holds the whole image; else it is as large as the image
    Pixel color = 0;      ///< of what the image does not cover
};

/// Where the middles of a result's pixels lie in the image, in 2^-32 pixels: pixel (x, y) at
/// start_x + x * step_x - y * step_y, start_y + x * step_y + y * step_x.
struct RotateMap {
    std::int64_t start_x, start_y;
    std::int64_t step_x, step_y;
};

/// Bits behind the point of a RotateMap, and of a pixel's place between its neighbours.
inline constexpr int rotate_map_bits = 32, rotate_place_bits = 8;

/// A place along one axis: the pixel before it, and how far behind that it is in 2^-8 pixels, rounded half up.
struct RotatePlace {
    int pixel;
    int behind;
};

FRAMEWIRE_HOST_DEVICE constexpr RotatePlace rotate_place(std::int64_t at) {
    constexpr int shift = rotate_map_bits - rotate_place_bits;
    const auto rounded = (at + (std::int64_t{1} << (shift - 1))) >> shift;
    return {static_cast<int>(rounded >> rotate_place_bits), static_cast<int>(rounded & ((1 << rotate_place_bits) - 1))};
}

/// Of four neighbours, a and b above c and d.
FRAMEWIRE_HOST_DEVICE constexpr int rotate_blend(int a, int b, int c, int d, int right, int down) {
    constexpr int one = 1 << rotate_place_bits;
    const int above = a * (one - right) + b * right, below = c * (one - right) + d * right;
    return (above * (one - down) + below * down + one * one / 2) >> (2 * rotate_place_bits);
}

/// Images turned about their middle. By right angles, where the result holds the whole image or is square, pixels move
/// unchanged; else each is blended of the four around its place, bilinearly, with weights of 8 bits, rounded half up.
/// What lies outside the image has the border's colour there, too. In and out: any strides, any alignment, no overlap;
/// 1 or 3 channels.
class Rotate {
public:
    /// Throws Error{usage} on angles and shapes that are not allowed, of the result, too.
    Rotate(const RotateParameters& parameters, const Shape& shape, Executor& executor);

    const Shape& output_shape() const { return to_; }
    /// Of pixels that are blended.
    const RotateMap& map() const { return map_; }

    /// On the executor's threads; returns when done.
    void run(const FilterImages<MemorySpace::host>& images) const;
    /// Queued on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images) const;

private:
    void blend(const FilterImages<MemorySpace::host>& images) const;
    void blend(const FilterImages<MemorySpace::device>& images) const;

    Shape from_, to_;
    Pixel color_;
    Executor* executor_;
    RotateMap map_{};
    std::optional<PixelMoves> moves_;
};

/// The registry's entry.
FilterInfo rotate_info();

}  // namespace framewire
