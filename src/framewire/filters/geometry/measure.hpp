#pragma once

#include "framewire/core/view.hpp"

#include <optional>
#include <string_view>

namespace framewire {

/// What the names in a measure stand for, in pixels.
struct MeasureNames {
    int in_width, in_height;                       ///< iw, ih, in_w, in_h
    std::optional<int> out_width{}, out_height{};  ///< ow, oh, out_w, out_h, where they are known
};

/// Reads a length or a place as FFmpeg's users write them: "640", "50%", "iw/2", "(ow-iw)/2". Numbers, the names, + - *
/// / and parentheses; N% is that part of `whole` pixels. Results are whole pixels, rounded towards zero as FFmpeg does
/// (33.3% of 100 is 33). Throws Error{usage} on anything else, saying where in the text, and on results beyond a
/// thousand million; `what` names the parameter in messages.
int measure(std::string_view text, std::string_view what, int whole, const MeasureNames& names);

}  // namespace framewire
