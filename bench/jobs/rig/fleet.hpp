#pragma once

#include <string>
#include <vector>

namespace framewire::bench {

/// Cameras in one server, with viewers.
struct Fleet {
    std::string size, backend;  ///< of synthetic cameras
    /// Optional: a video that every camera plays over and over instead.
    std::string video;
    std::vector<std::string> options;  ///< further options of the server
    double fps = 30;                   ///< 0 with a video: as fast as possible
    int cameras = 1;
    int viewers = 0;              ///< total for all cameras, assigned in turn; they receive without decoding
    double settling_seconds = 0;  ///< time before the measurement, excluded from the results
    double seconds = 0;           ///< duration of the measurement
};

/// Resource use of the server, and the rates achieved.
struct FleetStatistics {
    double slowest_fps = 0;
    bool held = false;             ///< no camera fell behind its rate by more than 1 % and one frame
    double cpu_us_per_frame = 0;   ///< the server's CPU time, all threads
    double cores = 0;              ///< average number of cores that the server used
    double viewer_cores = 0;       ///< the same of this process, in which the viewers run
    double other_cores = 0;        ///< the same of everything else on the machine
    double frames_per_second = 0;  ///< of all cameras
    double bytes_per_frame = 0;    ///< that one viewer of a camera receives
    double opening_seconds = 0;    ///< until every camera had delivered a frame
    double steps_ms = 0;  ///< with --times and one camera: mean time of a frame's steps without reading, sending
    double memory_mib = 0;
    double memory_growth_mib = 0;  ///< during the measurement
    int threads = 0;
    /// 99 % of the frames reached their viewers at most this much later than the camera's fastest frame; 0 without
    /// viewers, and if frames have no rate.
    double late_p99_ms = 0;
    double viewer_fps = 0;  ///< states per second received by the slowest viewer; 0 without viewers
};

/// Runs a fleet and checks the results: each viewer received states and nothing that the protocol forbids, and every
/// camera's stream stayed within the threshold of its frames, unless `options` change that. Throws Error{internal}
/// otherwise.
FleetStatistics run_fleet(const Fleet& fleet);

/// Returns the memory of this machine that programs can still take.
double free_mib();

}  // namespace framewire::bench
