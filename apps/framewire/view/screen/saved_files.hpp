#pragma once

#include <string>

namespace framewire::app {

/// A name for a new file of what a camera shows, `FOLDER/CAMERA-20261123-124501.png`; where that is there already it is
/// numbered. Only letters, digits, `-`, `_` and `.` of the camera's name are in it.
std::string new_file_name(const std::string& folder, const std::string& camera, const std::string& ending);

}  // namespace framewire::app
