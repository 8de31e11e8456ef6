#pragma once

#include "framewire/net/address.hpp"
#include "network/camera/frame_log.hpp"
#include "network/load/state_store.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace framewire::network {

/// Stream, and what is known of its camera.
struct LoadTarget {
    std::string url;
    net::StreamAddress address;
    std::unique_ptr<FrameLog> log;  ///< the camera's log; may be null
    /// Without a log: rate of a camera whose frames come at equal intervals, or 0. Latencies are then relative to the
    /// stream's fastest frame.
    double fps = 0;
};

struct LoadOptions {
    std::vector<LoadTarget> targets;  ///< streams, which viewers take in turn
    int viewers = 1;                  ///< viewers that parse only message headers
    int checking = 0;                 ///< viewers that decode pictures and compare pixels with the camera's, one thread
                                      ///< each
    int stalled = 0;                  ///< number of viewers that stop reading after their first state
    double seconds = 10;
    double stay_seconds = 0;       ///< mean duration of a connection; 0: the whole time
    double window_ms = 1000;       ///< maximum age of the frame to which a displayed byte belongs
    double reconnect_seconds = 0;  ///< time for which to try to reconnect to a lost stream
    bool arrivals = false;         ///< reports each arrival of a state
    /// Optional. If set, `checking` viewers store the states that they see there instead of checking pictures, and
    /// follow changes of a stream's picture size.
    std::unique_ptr<StateStore> states;
};

/// Parses "URL[,LOG]... [states=FOLDER] NAME=VALUE...". Throws std::invalid_argument.
LoadOptions read_load_options(const std::vector<std::string>& words);

}  // namespace framewire::network
