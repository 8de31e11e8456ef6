#pragma once

#include "framewire/session/broadcast/broadcast.hpp"

#include <string>

namespace framewire::session {

/// The command line that serves a camera so, for a shell, without passwords. `kept_in` is the file of what was ordered,
/// which has zones; empty: there is none.
std::string command_of(const BroadcastOptions& options, const std::string& kept_in);

}  // namespace framewire::session
