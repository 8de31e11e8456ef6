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

/// Persists the settings of served cameras to a file: when requested, within a second of a change, and on destruction.
/// If the file cannot be written, a warning is logged once and writing is retried.
class StateKeeper {
public:
    /// `before` is the content of the file; its entries for cameras that are not served now are preserved.
    StateKeeper(std::string path, OrderedOfCameras before, std::vector<std::shared_ptr<ServedCamera>> cameras);
    /// Stops the thread and writes the last changes.
    ~StateKeeper();
    StateKeeper(const StateKeeper&) = delete;
    StateKeeper& operator=(const StateKeeper&) = delete;

    /// Returns when the file holds the current settings; from any thread. Throws Error{io}.
    void keep_now();

private:
    void work(const std::stop_token& stop);
    // As keep_now(), but logs errors.
    void keep();

    std::string path_;
    OrderedOfCameras ordered_;
    std::vector<std::shared_ptr<ServedCamera>> cameras_;
    // content of the file
    std::string kept_;
    bool warned_ = false;
    // guards the file and what it holds
    std::mutex mutex_;
    // last member: starts after all others are initialised
    std::jthread thread_;
};

}  // namespace framewire::session
