#include "framewire/filters/geometry/opaque_color.hpp"

#include "framewire/filters/gray_input/gray_weights.hpp"
#include "framewire/filters/text/color.hpp"

namespace framewire {

ParameterInfo opaque_color_parameter(std::string_view help) {
    return {.name = "color", .help = help, .type = ParameterInfo::Type::text, .default_value = "black"};
}

// An alpha would be meaningless, because there is nothing under these pixels.
Pixel opaque_color_from(const ParameterValues& values, int channels) {
    const auto& text = values.text("color");
    const auto color = parse_color(text, "color");
    if (color.alpha != 255) fail(ErrorCode::usage, "color '{}' has an alpha; there is nothing behind it here", text);
    if (channels == 3) return color.pixel;
    return gray_pixel(static_cast<Pixel>(gray_of(color.pixel, split(gray_weights(GrayMethod::weighted)))));
}

}  // namespace framewire
