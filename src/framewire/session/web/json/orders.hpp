#pragma once

#include "framewire/session/live/live_camera.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::session::web {

// Orders as the API's bodies have them. Of anyone: each throws Error{usage} that says what is allowed.

/// {"chain":"gaussian=5"}; the text is not looked at.
std::string read_chain_order(std::string_view body);

/// {"brightness":10,"contrast":1.2,"saturation":1,"gain":1}, any of them, the others as they are `now`; or
/// {"filter":2,"on":false}.
ControlOrder read_control_order(std::string_view body, const Adjustment& now);

struct ThresholdOrder {
    std::optional<int> threshold{};
    std::optional<delta::Mode> mode{};
};
/// {"threshold":20,"mode":"exact"}, either or both.
ThresholdOrder read_threshold_order(std::string_view body);

/// {"zones":[{"kind":"privacy","x":0,"y":0,"width":64,"height":48}]}.
std::vector<LiveZone> read_zones_order(std::string_view body);

/// {"on":true}.
bool read_record_order(std::string_view body);

/// {}.
void read_empty_order(std::string_view body);

}  // namespace framewire::session::web
