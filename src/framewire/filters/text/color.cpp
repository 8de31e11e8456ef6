#include "framewire/filters/text/color.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/parameters/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>

namespace framewire {
namespace {

struct NamedColor {
    std::string_view name;
    std::uint32_t rgb;
};

// The names that users may write; to_string() uses them, too.
constexpr NamedColor named_colors[] = {
    {"white", 0xFFFFFF}, {"black", 0x000000},  {"gray", 0x808080}, {"red", 0xFF0000},     {"green", 0x00FF00},
    {"blue", 0x0000FF},  {"yellow", 0xFFFF00}, {"cyan", 0x00FFFF}, {"magenta", 0xFF00FF}, {"orange", 0xFFA500}};
constexpr std::string_view allowed =
    "#rrggbb or one of white, black, gray, red, green, blue, yellow, cyan, magenta, orange, each with @0 to @1 behind "
    "it "
    "for its alpha";

// Parses the color without its alpha, as 0xRRGGBB.
std::optional<std::uint32_t> read_rgb(std::string_view text) {
    if (text.size() == 7 && text[0] == '#') return number_in<std::uint32_t>(text.substr(1), 16);
    const auto found = std::find_if(std::begin(named_colors), std::end(named_colors),
                                    [&](const auto& one) { return one.name == text; });
    return found == std::end(named_colors) ? std::nullopt : std::optional(found->rgb);
}

}  // namespace

// The alpha is optional and rounded to 1/255.
Color parse_color(std::string_view text, std::string_view what) {
    const auto at = text.find('@');
    const auto rgb = read_rgb(text.substr(0, at));
    const auto alpha = at == text.npos ? std::optional(1.0) : number_in<double>(text.substr(at + 1));
    if (!rgb || !alpha || !(*alpha >= 0 && *alpha <= 1))
        fail(ErrorCode::usage, "{} '{}' is no colour; allowed is {}", what, text, allowed);
    return {pixel_of(*rgb & 255, *rgb >> 8 & 255, *rgb >> 16), static_cast<int>(std::lround(255 * *alpha))};
}

// A name if the color has one, otherwise #rrggbb; the alpha only if it is not opaque.
std::string to_string(const Color& color) {
    const auto rgb = channel_of(color.pixel, 2) << 16 | channel_of(color.pixel, 1) << 8 | channel_of(color.pixel, 0);
    const auto named = std::ranges::find(named_colors, static_cast<std::uint32_t>(rgb), &NamedColor::rgb);
    auto text = named == std::end(named_colors) ? fmt::format("#{:06x}", rgb) : std::string(named->name);
    if (color.alpha < 255) text += fmt::format("@{:.3f}", color.alpha / 255.0);
    return text;
}

}  // namespace framewire
