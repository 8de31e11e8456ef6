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

/// Settings of one camera that control requests changed, on top of the options it was started with. Empty members keep
/// the option.
struct LiveSettings {
    std::optional<std::string> chain{};
    /// State of the chain's filters; empty: all are on.
    std::vector<FilterSwitch> filters{};
    /// Values of the picture controls.
    std::optional<Adjustment> adjustment{};
    std::optional<int> threshold{};
    std::optional<delta::Mode> mode{};
    /// Privacy masks and detection areas; a list without entries: none.
    LiveZones zones{};

    friend bool operator==(const LiveSettings&, const LiveSettings&) = default;
};

/// Returns the encoder parameters of a camera started with `asked`, with the changes in `ordered`. Throws Error{usage}
/// if threshold or mode do not fit the other options.
delta::EncoderParameters encoder_with(const BroadcastOptions& asked, const LiveSettings& ordered);

/// Returns the options with which the job of such a camera is opened. Throws as encoder_with() does.
BroadcastOptions options_with(const BroadcastOptions& asked, const LiveSettings& ordered);

/// Returns `ordered` without settings that do not fit `asked`; the log names each one that is dropped.
LiveSettings fitting(const BroadcastOptions& asked, LiveSettings ordered);

/// Returns the values of the chain's first `adjust`; neutral values if it has none. Throws as parse_chain() does.
Adjustment adjustment_of_chain(const std::string& chain);

/// Checks a chain that a control request names: it must not name files of this machine. Throws Error{usage} if it does,
/// and as parse_chain() does.
void check_ordered_chain(const std::string& chain);

}  // namespace framewire::session
