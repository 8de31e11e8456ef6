#pragma once

#include <span>
#include <string>
#include <string_view>

namespace framewire::session {

/// A text that may be one camera's: "NAME=REST".
struct CameraText {
    std::string name;  ///< empty: no camera is named
    std::string rest;  ///< all of it then
};

/// Of a source. What stands before the first = is a name where it is one of streams (A-Z a-z 0-9 . _ -) and there is no
/// file of the whole text: `synth:size=64x48`, URLs and paths with a / before the = have none.
CameraText camera_source(std::string_view text);

/// Of what else is said of cameras, `names`: only one of them is a name.
CameraText camera_text(std::string_view text, std::span<const std::string> names);

/// With `name` in place of each {name}.
std::string with_camera_name(std::string_view text, std::string_view name);

}  // namespace framewire::session
