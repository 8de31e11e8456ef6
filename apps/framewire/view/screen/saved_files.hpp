#pragma once

#include <string>

namespace framewire::app {

/// Returns the path of a new file for a camera's pictures, `FOLDER/CAMERA-20261123-124501.png`. A number is appended if
/// that file exists. Characters of the camera's name other than letters, digits, `-`, `_` and `.` are removed or
/// replaced.
std::string new_file_name(const std::string& folder, const std::string& camera, const std::string& ending);

}  // namespace framewire::app
