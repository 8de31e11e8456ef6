#pragma once

#include <string>

namespace framewire::bench {

/// Synthetic cameras in one server, and who watches them.
struct Fleet {
    std::string size, backend;
    int fps = 30, cameras = 1;
    int viewers = 0;              ///< of all cameras together, who take turns; they take what comes and decode nothing
    double settling_seconds = 0;  ///< that do not count
    double seconds = 0;           ///< that do
};

/// What the server took for them, and what came of it.
struct FleetFigures {
    double slowest_fps = 0;
    bool held = false;            ///< no camera was further behind its rate than 1 % and a frame
    double cpu_us_per_frame = 0;  ///< the server's processor time, on all its threads
    double cores = 0;             ///< that it used in the mean
    double memory_mib = 0;
    int threads = 0;
    double viewer_fps = 0;  ///< states that came to the slowest viewer each second; 0 without any
};

/// Runs them and checks what they did: no camera's stream was further from its frames than the threshold, and each
/// viewer had states and none that the protocol forbids. Throws Error{internal} otherwise.
FleetFigures run_fleet(const Fleet& fleet);

}  // namespace framewire::bench
