#pragma once

#include "network/load/load_options.hpp"
#include "network/load/report.hpp"

#include <stop_token>
#include <vector>

namespace framewire::network {

/// Runs many viewers in one thread, until the time is over or `stop` is requested. Each implements the whole protocol,
/// but counts messages without decoding them. Latency is measured from the capture of a frame to the last byte of its
/// state.
std::vector<ViewerReport> run_crowd(const LoadOptions& options, std::stop_token stop);

}  // namespace framewire::network
