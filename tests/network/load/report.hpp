#pragma once

#include "framewire/core/time/clock.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace framewire::network {

/// A state as it arrived.
struct Arrival {
    Clock::time_point at;
    double latency_ms = 0;  ///< since its frame was captured
};

/// What one viewer saw.
struct ViewerReport {
    std::string url;
    int connections = 0;
    std::int64_t states = 0, pictures = 0, skipped = 0, bytes = 0;
    std::vector<double> first_state_ms;  ///< of each connection, from its hello
    std::vector<Arrival> arrivals;       ///< of frames whose time is known
    std::vector<std::string> errors;

    // Of viewers that look at the pixels.
    std::int64_t checked = 0;               ///< pictures held against the camera's frames
    std::vector<Clock::time_point> failed;  ///< when those with a byte outside were shown, and
    std::int64_t outside = 0;               ///< their bytes outside
    std::int64_t unstamped = 0;             ///< pictures without a frame's number, which are none of the camera's
    double oldest_age_ms = 0;               ///< of the frames that were needed

    void came(std::optional<Clock::time_point> captured, Clock::time_point now);
};

/// The value that `share` of them do not pass; 0 of none.
double percentile(std::vector<double> values, double share);

/// {"viewers": [...], "all": {...}}: of each viewer and of all, the counts, and latency_ms with p50, p95, p99 and max;
/// with `each_arrival` the list "arrivals" of [milliseconds of the steady clock, latency]. "failed" is a list of such
/// times.
nlohmann::json to_json(const std::vector<ViewerReport>& reports, bool each_arrival);

}  // namespace framewire::network
