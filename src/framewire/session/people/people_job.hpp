#pragma once

#include "framewire/hog/people/people_detector.hpp"
#include "framewire/hog/window_model.hpp"
#include "framewire/pipeline/statistics/statistics.hpp"
#include "framewire/session/people/people_options.hpp"

#include <memory>

namespace framewire::session {

/// Finds people in the filtered frames of a source with a window detector, and writes records and optionally an
/// annotated video. A job runs once.
class PeopleJob {
public:
    /// Opens the source, then everything else, cheap checks first and outputs last. Throws as read_window_model(),
    /// files_of(), FrameJob, PeopleDetector, open_sink() and OutputFile do.
    explicit PeopleJob(const PeopleOptions& options);
    ~PeopleJob();

    /// The model in use.
    const WindowModel& model() const;
    /// The detector, for its scales and windows.
    const PeopleDetector& detector() const;

    /// Runs the job; may be called once. If anything fails, the outputs are completed with what was found before, and
    /// the first error is thrown. Throws Error{no_input} if the source has no frames.
    const PeopleResult& run();
    /// Result of run(), valid even if it threw.
    const PeopleResult& result() const;
    /// Statistics of the run in progress; from any thread.
    const Statistics& statistics() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::session
