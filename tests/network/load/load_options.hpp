#pragma once

#include "framewire/net/address.hpp"
#include "network/camera/frame_log.hpp"
#include "network/load/state_store.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace framewire::network {

/// A stream, and what its camera sent where that is known.
struct LoadTarget {
    std::string url;
    net::StreamAddress address;
    std::unique_ptr<FrameLog> log;
};

struct LoadOptions {
    std::vector<LoadTarget> targets;  ///< viewers take them by turns
    int viewers = 1;                  ///< who take messages and look no further than their fronts
    int checking = 0;                 ///< who decode and hold pixels against the camera's, a thread each
    int stalled = 0;                  ///< of the viewers, who read no more after their first state
    double seconds = 10;
    double stay_seconds = 0;       ///< of a connection, in the mean; 0: all the time
    double window_ms = 1000;       ///< how old a frame may be that a byte shown is of
    double reconnect_seconds = 0;  ///< how long a lost stream is tried to be had again
    bool arrivals = false;         ///< tell of each state
    /// Optional. If set, `checking` viewers put the states that they see there instead of checking them, and follow
    /// streams whose pictures change size.
    std::unique_ptr<StateStore> states;
};

/// Reads "URL[,LOG]... [states=FOLDER] NAME=VALUE...". Throws std::invalid_argument.
LoadOptions read_load_options(const std::vector<std::string>& words);

}  // namespace framewire::network
