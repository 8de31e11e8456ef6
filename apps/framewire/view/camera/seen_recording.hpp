#pragma once

#include "framewire/core/time/clock.hpp"
#include "framewire/core/time/rational.hpp"
#include "framewire/core/view.hpp"
#include "framewire/pipeline/source.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace framewire::app {

/// A recording of what is seen, on and off by a key. Pictures have the times at which they were seen. Thread-safe.
class SeenRecording {
public:
    /// Into a new file of that name, from the next picture on.
    void start(std::string path, Rational rate);
    /// Takes a picture where it is on. What breaks the recording ends it, and is said by problem(). One of another
    /// shape ends it, too.
    void put(HostView<const std::uint8_t> picture);
    /// Completes the file. Gives its name; none where there is none. Throws what breaks it.
    std::optional<std::string> stop();

    /// For how long it has been on.
    std::optional<double> seconds() const;
    /// Why it ended of its own; said once.
    std::optional<std::string> take_problem();

private:
    std::optional<std::string> finish();

    mutable std::mutex mutex_;
    std::string path_;  // empty: it is off
    Rational rate_{30, 1};
    Shape shape_{};
    std::unique_ptr<Sink> sink_;  // there from the first picture on
    Clock::time_point started_{};
    std::int64_t pictures_ = 0;
    std::optional<std::string> problem_;
};

}  // namespace framewire::app
