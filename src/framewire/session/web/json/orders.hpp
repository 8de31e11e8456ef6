#pragma once

#include "framewire/session/live/live_camera.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::session::web {

// Parsers for the bodies of control requests. Bodies are untrusted: each function throws Error{usage} that says what is
// allowed if a body is anything else.

/// Parses {"chain":"gaussian=5"}; the chain itself is not checked.
std::string read_chain_order(std::string_view body);

/// Parses {"brightness":10,"contrast":1.2,"saturation":1,"gain":1} with any subset of the members; the others keep
/// their value in `now`. Or parses {"filter":2,"on":false}, with filters counted from 1.
ControlOrder read_control_order(std::string_view body, const Adjustment& now);

/// Requested threshold and mode; empty members stay as they are.
struct ThresholdOrder {
    std::optional<int> threshold{};
    std::optional<delta::Mode> mode{};
};
/// Parses {"threshold":20,"mode":"exact"} with either or both members.
ThresholdOrder read_threshold_order(std::string_view body);

/// Parses {"zones":[{"kind":"privacy","x":0,"y":0,"width":64,"height":48}]}, with at most max_live_zones.
std::vector<LiveZone> read_zones_order(std::string_view body);

/// Parses {"on":true}.
bool read_record_order(std::string_view body);

/// Checks that the body is {}.
void read_empty_order(std::string_view body);

}  // namespace framewire::session::web
