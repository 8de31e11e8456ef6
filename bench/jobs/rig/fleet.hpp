#pragma once

#include <string>

namespace framewire::bench {

/// Synthetic cameras in one server, with viewers.
struct Fleet {
    std::string size, backend;
    int fps = 30, cameras = 1;
    int viewers = 0;              ///< total for all cameras, assigned in turn; they receive without decoding
    double settling_seconds = 0;  ///< time before the measurement, excluded from the results
    double seconds = 0;           ///< duration of the measurement
};

/// Resource use of the server, and the rates achieved.
struct FleetStatistics {
    double slowest_fps = 0;
    bool held = false;            ///< no camera fell behind its rate by more than 1 % and one frame
    double cpu_us_per_frame = 0;  ///< the server's CPU time, all threads
    double cores = 0;             ///< average number of cores that the server used
    double memory_mib = 0;
    int threads = 0;
    double viewer_fps = 0;  ///< states per second received by the slowest viewer; 0 without viewers
};

/// Runs a fleet and checks the results: every camera's stream stayed within the threshold of its frames, and each
/// viewer received states and nothing that the protocol forbids. Throws Error{internal} otherwise.
FleetStatistics run_fleet(const Fleet& fleet);

}  // namespace framewire::bench
