#pragma once

#include "network/load/load_options.hpp"
#include "network/load/report.hpp"

#include <stop_token>
#include <vector>

namespace framewire::network {

/// Many viewers in one thread, until the time is over or `stop` is requested. Each implements the whole protocol, and
/// receives and counts messages without decoding them. Latency is from a frame's capture to its state's last byte.
std::vector<ViewerReport> run_crowd(const LoadOptions& options, std::stop_token stop);

}  // namespace framewire::network
