#pragma once

#include <string>

namespace framewire::session {

/// Returns a source's name without private parts: no folders of this machine, and no user, password or query of a URL.
std::string public_name(const std::string& source);

}  // namespace framewire::session
