#pragma once

#include <string>
#include <string_view>

namespace framewire::session {

/// Returns a path for a new file, `FOLDER/NAME-20261123-124501.ENDING` in local time. A number is appended if that
/// file, or its `.part`, exists. `name` must be valid in a file name.
std::string new_file_name(const std::string& folder, std::string_view name, std::string_view ending);

}  // namespace framewire::session
