#pragma once

#include "framewire/core/view.hpp"

#include <optional>
#include <string_view>

namespace framewire {

/// Values of the names in a measure, in pixels.
struct MeasureNames {
    int in_width, in_height;                       ///< iw, ih, in_w, in_h
    std::optional<int> out_width{}, out_height{};  ///< ow, oh, out_w, out_h, if they are known
};

/// Evaluates a length or a position in the notation of FFmpeg's users: "640", "50%", "iw/2", "(ow-iw)/2". Supports
/// numbers, the names above, + - * / and parentheses; N% is that share of `whole` pixels. The result is an integer,
/// rounded towards zero as in FFmpeg (33.3% of 100 is 33). Throws Error{usage} with the position in the text on
/// anything else, and on results beyond 1e9. `what` names the parameter in messages.
int measure(std::string_view text, std::string_view what, int whole, const MeasureNames& names);

}  // namespace framewire
