#pragma once

#include "framewire/core/view.hpp"
#include "framewire/filters/filter.hpp"
#include "framewire/filters/pixel_moves.hpp"

#include <optional>
#include <string_view>

namespace framewire {

/// Values of the names in a measure, in pixels.
struct MeasureNames {
    int in_width, in_height;                       ///< iw, ih, in_w, in_h
    std::optional<int> out_width{}, out_height{};  ///< ow, oh, out_w, out_h, if they are known
};

/// Evaluates a length or a position in FFmpeg's notation: "640", "50%", "iw/2", "(ow-iw)/2". Supports numbers, the
/// names above, + - * / and parentheses; N% is that share of `whole` pixels. The result is an integer, rounded towards
/// zero as in FFmpeg (33.3% of 100 is 33). Throws Error{usage} on any other text, with the position in the text, and on
/// results beyond 1e9. `what` names the parameter in messages.
int measure(std::string_view text, std::string_view what, int whole, const MeasureNames& names);

/// Returns the `color` parameter of filters that add pixels around the image.
ParameterInfo opaque_color_parameter(std::string_view help);

/// Returns the value of `color` for images with `channels` channels: the color itself, or its weighted gray value for
/// gray images. Throws Error{usage} if the text is not a color or has an alpha.
Pixel opaque_color_from(const ParameterValues& values, int channels);

/// A rearrangement of an image's pixels, without change of their values.
struct PixelMove {
    /// Map from the result's pixels to the image's.
    PixelMap map{};
    Pixel outside = 0;  ///< color of pixels whose source lies outside the image
    Shape to{};         ///< shape of the result
};

/// A rectangle of an image, in pixels.
struct CropParameters {
    /// Upper left corner.
    int x = 0, y = 0;
    /// Size.
    int width = 0, height = 0;
};

/// Makes a plan that copies the rectangle `parameters` out of each image of `shape`. Throws Error{usage} if the shape
/// is not allowed or the rectangle is not entirely inside the image.
PixelMoves crop(const CropParameters& parameters, const Shape& shape, Executor& executor);

/// Returns the registry entry of `crop`.
FilterInfo crop_info();

/// Parameters of flip(). Both together rotate by 180 degrees.
struct FlipParameters {
    bool left_right = true;   ///< swap left and right
    bool top_bottom = false;  ///< swap top and bottom
};

/// Makes a plan that mirrors each image. Throws Error{usage} on a shape that is not allowed.
PixelMoves flip(const FlipParameters& parameters, const Shape& shape, Executor& executor);

/// Returns the registry entry of `flip`.
FilterInfo flip_info();

/// Size of a padded picture and position of the image in it, in pixels.
struct PadParameters {
    /// Size of the result.
    int width = 0, height = 0;
    /// Position of the image's upper left corner in the result.
    int x = 0, y = 0;
    Pixel color = 0;  ///< color around the image
};

/// Makes a plan that places each image of `shape` in a larger picture of one color. Throws Error{usage} on shapes that
/// are not allowed, and if the image does not fit.
PixelMoves pad(const PadParameters& parameters, const Shape& shape, Executor& executor);

/// Returns the registry entry of `pad`.
FilterInfo pad_info();

}  // namespace framewire
