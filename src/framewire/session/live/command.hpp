#pragma once

#include "framewire/filters/adjustment.hpp"
#include "framewire/pipeline/chain/switches/chain_switches.hpp"
#include "framewire/session/broadcast/broadcast.hpp"

#include <optional>
#include <span>
#include <string>

namespace framewire::session {

/// Returns the chain as it is in force: without filters that are switched off, and with an `adjust` that sets
/// `adjustment` if the chain sets another one. `filters` are the chain's switches, in its order. Throws as
/// parse_chain() does.
std::string chain_in_force(const std::string& chain, std::span<const FilterSwitch> filters,
                           const std::optional<Adjustment>& adjustment);

/// Returns the shell command line that serves a camera with these options, without passwords. `kept_in` is the state
/// file, which also stores the zones. If it is empty, a comment after the command lists the zones, because no option
/// sets them.
std::string command_of(const BroadcastOptions& options, const std::string& kept_in);

}  // namespace framewire::session
