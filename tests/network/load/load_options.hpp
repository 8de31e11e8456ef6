#pragma once

#include "framewire/net/address.hpp"
#include "network/camera/frame_log.hpp"
#include "network/load/state_store.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace framewire::network {

/// A stream, and its camera's log if it is known.
struct LoadTarget {
    std::string url;
    net::StreamAddress address;
    std::unique_ptr<FrameLog> log;
};

struct LoadOptions {
    std::vector<LoadTarget> targets;  ///< viewers take them in turn
    int viewers = 1;                  ///< viewers that parse only message headers
    int checking = 0;                 ///< viewers that decode and compare pixels with the camera's, one thread each
    int stalled = 0;                  ///< how many of the viewers stop reading after their first state
    double seconds = 10;
    double stay_seconds = 0;       ///< mean duration of a connection; 0: the whole time
    double window_ms = 1000;       ///< maximum age of the frame that a displayed byte belongs to
    double reconnect_seconds = 0;  ///< how long to try to reconnect to a lost stream
    bool arrivals = false;         ///< report each state
    /// Optional. If set, `checking` viewers store the states that they see there instead of checking them, and follow
    /// streams whose picture size changes.
    std::unique_ptr<StateStore> states;
};

/// Reads "URL[,LOG]... [states=FOLDER] NAME=VALUE...". Throws std::invalid_argument.
LoadOptions read_load_options(const std::vector<std::string>& words);

}  // namespace framewire::network
