#pragma once

#include "network/load/load_options.hpp"
#include "network/load/report.hpp"

#include <stop_token>

namespace framewire::network {

/// Runs a viewer that decodes every picture and compares it with what the camera sent, until the time is over, the
/// stream ends or `stop` is requested. With `options.states`, it stores every state there instead. Pictures without a
/// frame number ("no signal") are counted but not checked. Blocks.
ViewerReport run_checking_viewer(const LoadOptions& options, const LoadTarget& target, std::stop_token stop);

}  // namespace framewire::network
