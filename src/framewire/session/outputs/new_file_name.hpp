#pragma once

#include <string>
#include <string_view>

namespace framewire::session {

/// A name for a new file of the folder, `FOLDER/NAME-20261123-124501.png`, by the local time; where that is there
/// already it is numbered. `name` is part of a file's name.
std::string new_file_name(const std::string& folder, std::string_view name, std::string_view ending);

}  // namespace framewire::session
