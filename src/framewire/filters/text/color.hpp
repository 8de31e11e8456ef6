#pragma once

#include "framewire/filters/pointwise/pixel.hpp"

#include <string>
#include <string_view>

namespace framewire {

/// A color to blend with.
struct Color {
    /// The color.
    Pixel pixel = 0;
    int alpha = 255;  ///< 0 is transparent, 255 opaque
};

/// Parses "#rrggbb" or a name, optionally followed by an alpha such as "@0.5". Throws Error{usage} on any other text;
/// `what` names the parameter in the message.
Color parse_color(std::string_view text, std::string_view what);

/// A text that parse_color() reads as this color; its name if it has one.
std::string to_string(const Color& color);

}  // namespace framewire
