#pragma once

#include "framewire/filters/adjustment.hpp"
#include "framewire/pipeline/chain/switches/chain_switches.hpp"
#include "framewire/session/broadcast/broadcast.hpp"

#include <optional>
#include <span>
#include <string>

namespace framewire::session {

/// A camera's chain as it is in force: without the filters that are off, and with an `adjust` that sets `adjustment`
/// where the chain itself sets another. Throws as parse_chain().
std::string chain_in_force(const std::string& chain, std::span<const FilterSwitch> filters,
                           const std::optional<Adjustment>& adjustment);

/// The command line that serves a camera so, for a shell, without passwords. `kept_in` is the state file, which has
/// zones; empty: there is none, and a comment behind the command line names the zones, for which there is no option.
std::string command_of(const BroadcastOptions& options, const std::string& kept_in);

}  // namespace framewire::session
