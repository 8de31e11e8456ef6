#pragma once

#include <span>
#include <string>
#include <string_view>

namespace framewire::session {

/// A text that may belong to one camera: "NAME=REST".
struct CameraText {
    /// Empty if no camera is named.
    std::string name;
    /// The text without the name.
    std::string rest;
};

/// Splits the text of a source. The part before the first = is a name if it is a valid stream name (A-Z a-z 0-9 . _ -)
/// and no file has the whole text as its path. Thus `synth:size=64x48`, URLs and paths with a / before the = have no
/// name.
CameraText camera_source(std::string_view text);

/// Splits the text of another option of cameras; only one of `names` counts as a name.
CameraText camera_text(std::string_view text, std::span<const std::string> names);

/// Returns `text` with each {name} replaced by `name`.
std::string with_camera_name(std::string_view text, std::string_view name);

}  // namespace framewire::session
