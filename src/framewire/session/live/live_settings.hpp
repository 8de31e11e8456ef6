#pragma once

#include "framewire/delta/delta.hpp"
#include "framewire/filters/adjustment.hpp"
#include "framewire/pipeline/chain/switches/chain_switches.hpp"
#include "framewire/session/broadcast/broadcast.hpp"
#include "framewire/session/live/zones.hpp"

#include <optional>
#include <string>
#include <vector>

namespace framewire::session {

/// What was ordered of a camera, over what it was started with.
struct LiveSettings {
    std::optional<std::string> chain{};
    std::vector<FilterSwitch> filters{};  ///< how the chain's stand; empty: all are on
    std::optional<Adjustment> adjustment{};
    std::optional<int> threshold{};
    std::optional<delta::Mode> mode{};
    LiveZones zones{};

    friend bool operator==(const LiveSettings&, const LiveSettings&) = default;
};

/// How a camera that was started with `asked` is sent then. Throws Error{usage} on a threshold or a mode that does not
/// go with the rest.
delta::EncoderParameters encoder_with(const BroadcastOptions& asked, const LiveSettings& ordered);

/// The options that such a camera is opened with. Throws likewise.
BroadcastOptions options_with(const BroadcastOptions& asked, const LiveSettings& ordered);

/// `ordered` without what does not go with `asked`, of which the log warns.
LiveSettings fitting(const BroadcastOptions& asked, LiveSettings ordered);

/// What the chain's own `adjust` sets; of a chain without one, nothing changes. Throws as parse_chain().
Adjustment adjustment_of_chain(const std::string& chain);

/// A chain that is ordered from outside names no files of this machine. Throws as parse_chain(), and Error{usage}.
void check_ordered_chain(const std::string& chain);

}  // namespace framewire::session
