#pragma once

#include "framewire/pipeline/source.hpp"
#include "framewire/session/input/no_signal.hpp"
#include "framewire/session/options.hpp"

#include <chrono>
#include <memory>
#include <stop_token>

namespace framewire::session {

/// Between attempts to have a source again that is shown to viewers: doubles from the first to the longest. What was
/// away for a moment costs no more than that.
inline constexpr std::chrono::milliseconds first_retry_pause{100}, longest_retry_pause{10'000};

/// A source that is open, with what shows that it is away. One job after the other may read it.
class OpenedSource {
public:
    /// Throws as open_source() does, also when `stop` comes meanwhile.
    OpenedSource(const InputOptions& input, bool replace_truth, const std::stop_token& stop);

    Source& source() { return *source_; }
    NoSignal& no_signal() { return no_signal_; }
    /// Ends a read, and all that follow.
    void stop() { stop_.request_stop(); }

private:
    std::stop_source stop_;
    NoSignal no_signal_;
    std::unique_ptr<Source> source_;
};

}  // namespace framewire::session
