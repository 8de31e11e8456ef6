#pragma once

#include "framewire/core/time.hpp"

#include <atomic>
#include <stop_token>
#include <thread>

namespace framewire::app {

/// Turns the first SIGINT, SIGTERM or SIGHUP (a closed terminal; unless the signal is ignored) into a stop request.
/// Further signals within a second belong to the same request; a later one ends the program immediately. Blocks these
/// signals in the calling thread and in the threads that it starts afterwards; a dedicated thread receives them.
class StopSignals {
public:
    /// Blocks the signals and starts the thread. Throws Error{config} if the system provides no descriptor or thread.
    StopSignals();
    ~StopSignals();
    StopSignals(const StopSignals&) = delete;
    StopSignals& operator=(const StopSignals&) = delete;

    /// Returns the source of stop requests.
    const std::stop_source& stop() const { return stop_; }
    /// Returns the number of the first signal; 0 if there was none.
    int received() const { return received_; }

private:
    // Body of the thread that reads signals.
    void receive();

    std::stop_source stop_;
    std::atomic<int> received_{0};
    Clock::time_point first_{};  // time of the first signal; only the thread uses it
    int signals_ = -1;           // signalfd from which the thread reads
    int ending_ = -1;            // eventfd that tells the thread to end
    std::thread thread_;
};

}  // namespace framewire::app
