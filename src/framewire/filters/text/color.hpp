#pragma once

#include "framewire/filters/pointwise/pixel.hpp"

#include <string>
#include <string_view>

namespace framewire {

/// A colour to blend with.
struct Color {
    Pixel pixel = 0;
    int alpha = 255;  ///< 0 leaves what is there, 255 covers it
};

/// Reads "#rrggbb" or a name, each with "@0.5" behind it for an alpha of a half. Throws Error{usage} on anything else;
/// `what` names the parameter in the message.
Color parse_color(std::string_view text, std::string_view what);

/// A text that it reads as this colour: its name where it has one.
std::string to_string(const Color& color);

}  // namespace framewire
