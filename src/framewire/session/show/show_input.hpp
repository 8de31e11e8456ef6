#pragma once

#include "framewire/session/input/filtered_input.hpp"
#include "framewire/session/show/playback.hpp"

#include <exception>
#include <stop_token>

namespace framewire::session {

/// A source that a Playback leads to and fro. At its end, and where it breaks, it waits to be led elsewhere.
class ShowInput : public FilteredInput {
public:
    /// Throws as FilteredInput does.
    ShowInput(const InputOptions& input, const JobOptions& job, std::stop_token stop)
        : FilteredInput(seekable(input), job, std::move(stop)), playback_(info().live) {}

    Playback& playback() { return playback_; }
    const Playback& playback() const { return playback_; }

    /// False when the playback is closed; throws then what the source broke with.
    bool capture(InputFrame& frame, FrameTime& time);
    void filter(InputFrame& frame, const FrameTime& time, const Statistics& statistics, Wanted wanted);

private:
    static InputOptions seekable(InputOptions input) {
        input.seekable = true;
        input.may_skip = true;
        input.panel = true;
        return input;
    }

    Playback playback_;
    std::exception_ptr lost_;
    int reading_pass_ = 0;   // that is captured
    int filtered_pass_ = 0;  // that the filters' previous frames are of
};

}  // namespace framewire::session
