#pragma once

#include "framewire/core/time.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace framewire::network {

/// Arrival of a state.
struct Arrival {
    Clock::time_point at;
    double latency_ms = 0;  ///< since its frame was captured
};

/// Report of one viewer.
struct ViewerReport {
    std::string url;
    int connections = 0;
    std::int64_t states = 0, pictures = 0, skipped = 0, bytes = 0;
    std::vector<double> first_state_ms;  ///< per connection, from its hello
    std::vector<Arrival> arrivals;       ///< for frames whose time is known
    std::vector<std::string> errors;

    // For viewers that check the pixels.
    std::int64_t checked = 0;               ///< pictures compared with the camera's frames
    std::vector<Clock::time_point> failed;  ///< when pictures with a byte outside the bound were shown
    std::int64_t outside = 0;               ///< number of these bytes
    std::int64_t unstamped = 0;             ///< pictures without a frame's number, which are not the camera's
    double oldest_age_ms = 0;               ///< of the frames that pictures belong to

    void came(std::optional<Clock::time_point> captured, Clock::time_point now);
};

/// Returns the value that the given share of the values does not exceed; 0 if there are none.
double percentile(std::vector<double> values, double share);

/// Returns {"viewers": [...], "all": {...}}: for each viewer and for all, the counts, and latency_ms with p50, p95, p99
/// and max; with `each_arrival` also the list "arrivals" of [milliseconds of the steady clock, latency]. "failed" is a
/// list of such times.
nlohmann::json to_json(const std::vector<ViewerReport>& reports, bool each_arrival);

}  // namespace framewire::network
