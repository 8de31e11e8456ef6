#pragma once

#include <string>

namespace framewire::session {

/// A source's name as strangers are told it: no folders of this machine, no users and no queries of a URL.
std::string public_name(const std::string& source);

}  // namespace framewire::session
