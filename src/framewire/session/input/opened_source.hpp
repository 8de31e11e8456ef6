#pragma once

#include "framewire/pipeline/source.hpp"
#include "framewire/session/input/no_signal.hpp"
#include "framewire/session/options.hpp"

#include <chrono>
#include <memory>
#include <stop_token>

namespace framewire::session {

/// Pauses between attempts to reopen a source that is shown to viewers. They double from the first to the longest, so a
/// short interruption costs little time.
inline constexpr std::chrono::milliseconds first_retry_pause{100}, longest_retry_pause{10'000};

/// An open source with its "no signal" picture. Consecutive jobs may read it.
class OpenedSource {
public:
    /// Opens the source. Throws as open_source() does, also if `stop` is triggered meanwhile.
    OpenedSource(const InputOptions& input, bool replace_truth, const std::stop_token& stop);

    /// The source; for one thread at a time.
    Source& source() { return *source_; }
    /// Picture that is shown while the source is away.
    NoSignal& no_signal() { return no_signal_; }
    /// Ends the current read and all later ones; from any thread.
    void stop() { stop_.request_stop(); }

private:
    std::stop_source stop_;
    NoSignal no_signal_;
    std::unique_ptr<Source> source_;
};

}  // namespace framewire::session
