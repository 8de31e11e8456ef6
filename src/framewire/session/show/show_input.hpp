#pragma once

#include "framewire/session/input/filtered_input.hpp"
#include "framewire/session/show/playback.hpp"

#include <exception>
#include <stop_token>

namespace framewire::session {

/// A source whose reading a Playback controls. At its end, or after an error, it waits for a seek.
class ShowInput : public FilteredInput {
public:
    /// Opens the source, seekable and with filter switches. Throws as FilteredInput does.
    ShowInput(const InputOptions& input, const JobOptions& job, std::stop_token stop)
        : FilteredInput(seekable(input), job, std::move(stop)), playback_(info().live) {}

    /// Playback control; thread-safe.
    Playback& playback() { return playback_; }
    const Playback& playback() const { return playback_; }

    /// Reads the next frame of the current pass. Returns false if the playback was closed; if the source failed before,
    /// throws its error then.
    bool capture(InputFrame& frame, FrameTime& time);
    /// Filters the frame, and resets the filters at the first frame of a pass. Both images are on the host afterwards.
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
    // pass of the frames being captured
    int reading_pass_ = 0;
    // pass of the frames that the filters saw last
    int filtered_pass_ = 0;
};

}  // namespace framewire::session
