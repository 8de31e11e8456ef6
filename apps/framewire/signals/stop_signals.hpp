#pragma once

#include "framewire/core/time/clock.hpp"

#include <atomic>
#include <stop_token>
#include <thread>

namespace framewire::app {

/// Turns the first SIGINT, SIGTERM or SIGHUP (of a terminal that goes, unless it is ignored) into a stop. Further ones
/// within a second of it belong to the same stop; a later one ends the program at once. Blocks these signals in the
/// calling thread and those it starts from then on; a thread of its own receives them.
class StopSignals {
public:
    /// Throws Error{config} when the system gives no descriptor or thread.
    StopSignals();
    ~StopSignals();
    StopSignals(const StopSignals&) = delete;
    StopSignals& operator=(const StopSignals&) = delete;

    const std::stop_source& stop() const { return stop_; }
    /// The number of the first signal; 0 when there was none.
    int received() const { return received_; }

private:
    void receive();

    std::stop_source stop_;
    std::atomic<int> received_{0};
    Clock::time_point first_{};  // when the first signal came; used by the thread only
    int signals_ = -1;           // descriptor from which signals are read
    int ending_ = -1;            // descriptor that wakes the thread to end
    std::thread thread_;
};

}  // namespace framewire::app
