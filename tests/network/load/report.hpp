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
    double latency_ms = 0;  ///< time since the frame was captured
};

/// Report of one viewer.
struct ViewerReport {
    std::string url;
    int connections = 0;
    std::int64_t states = 0, pictures = 0, skipped = 0, bytes = 0;
    std::vector<double> first_state_ms;  ///< time from hello to first state, per connection
    std::vector<Arrival> arrivals;       ///< arrivals of states whose capture time is known
    std::vector<std::string> errors;

    // The following members are for viewers that check pixels.
    std::int64_t checked = 0;               ///< pictures compared with the camera's frames
    std::vector<Clock::time_point> failed;  ///< times at which pictures with a byte outside the bound were shown
    std::int64_t outside = 0;               ///< number of bytes outside the bound
    std::int64_t unstamped = 0;             ///< pictures without a frame number, which do not come from the camera
    double oldest_age_ms = 0;               ///< largest age of a frame whose picture was shown

    void came(std::optional<Clock::time_point> captured, Clock::time_point now);
};

/// Returns the value that the given share of the values does not exceed; 0 if there are no values.
double percentile(std::vector<double> values, double share);

/// Returns {"viewers": [...], "all": {...}}, each with the counts and latency_ms (p50, p95, p99, max). "failed" lists
/// times in milliseconds of the steady clock. With `each_arrival`, "arrivals" lists pairs [such a time, latency].
nlohmann::json to_json(const std::vector<ViewerReport>& reports, bool each_arrival);

}  // namespace framewire::network
