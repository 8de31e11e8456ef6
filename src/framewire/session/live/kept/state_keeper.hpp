#pragma once

#include "framewire/session/live/kept/state_file.hpp"
#include "framewire/session/live/served_camera.hpp"

#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace framewire::session {

/// Keeps what is ordered of cameras in a file: when told to, within a second of a change, and at the end. A file that
/// cannot be written is told of once, and tried again.
class StateKeeper {
public:
    /// `before` is what the file said; what it has of cameras that are not here stays in it.
    StateKeeper(std::string path, OrderedOfCameras before, std::vector<std::shared_ptr<ServedCamera>> cameras);
    ~StateKeeper();
    StateKeeper(const StateKeeper&) = delete;
    StateKeeper& operator=(const StateKeeper&) = delete;

    /// Returns when the file has what is ordered now; from any thread. Throws Error{io}.
    void keep_now();

private:
    void work(const std::stop_token& stop);
    void keep();

    std::string path_;
    OrderedOfCameras ordered_;
    std::vector<std::shared_ptr<ServedCamera>> cameras_;
    std::string kept_;
    bool warned_ = false;
    std::mutex mutex_;     // of the file and what it holds
    std::jthread thread_;  // last: all is there before it starts
};

}  // namespace framewire::session
