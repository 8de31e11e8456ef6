#pragma once

#include "framewire/core/time.hpp"
#include "framewire/core/view.hpp"
#include "framewire/plan/source.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace framewire::app {

/// Recording of what the window shows, started and stopped by a key. Timestamps are the times of display. Thread-safe.
class SeenRecording {
public:
    /// Starts a recording to a new file with the next picture.
    void start(std::string path, Rational rate);
    /// Records a picture if a recording is running. An error ends the recording; take_problem() then returns it. A
    /// picture of another shape also ends the recording.
    void put(HostView<const std::uint8_t> picture);
    /// Completes the file and returns its name; nullopt if no recording was running. Throws the error of the recording,
    /// if there was one.
    std::optional<std::string> stop();

    /// Returns the time since the recording started; nullopt if none is running.
    std::optional<double> seconds() const;
    /// Returns the reason for which the recording ended unexpectedly, but only once.
    std::optional<std::string> take_problem();

private:
    // Same as stop(), for callers that hold the mutex.
    std::optional<std::string> finish();

    mutable std::mutex mutex_;
    std::string path_;  // empty while not recording
    Rational rate_{30, 1};
    Shape shape_{};
    std::unique_ptr<Sink> sink_;  // opened with the first picture
    Clock::time_point started_{};
    std::int64_t pictures_ = 0;
    std::optional<std::string> problem_;
};

}  // namespace framewire::app
