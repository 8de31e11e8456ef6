#pragma once

#include <string>

namespace framewire::app {

/// Path for a new file of a camera's pictures, `FOLDER/CAMERA-20261123-124501.png`, with a number if that exists.
/// Characters of the camera's name other than letters, digits, `-`, `_` and `.` are removed or replaced.
std::string new_file_name(const std::string& folder, const std::string& camera, const std::string& ending);

}  // namespace framewire::app
