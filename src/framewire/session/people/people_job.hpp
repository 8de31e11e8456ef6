#pragma once

#include "framewire/hog/people/people_detector.hpp"
#include "framewire/hog/window_model.hpp"
#include "framewire/pipeline/statistics/statistics.hpp"
#include "framewire/session/people/people_options.hpp"

#include <memory>

namespace framewire::session {

/// From a source through filters to records of people, and a video of them. For one run.
class PeopleJob {
public:
    /// Opens all there is, what is cheap to refuse first and outputs last. Throws as read_window_model(),
    /// files_of(), FrameJob, PeopleDetector, open_sink() and OutputFile do.
    explicit PeopleJob(const PeopleOptions& options);
    ~PeopleJob();

    const WindowModel& model() const;
    const PeopleDetector& detector() const;

    /// To be called once. Throws what failed on the way, after what was found before was written; Error{no_input} where
    /// the source has no frames.
    const PeopleResult& run();
    /// Of run(), when it threw, too.
    const PeopleResult& result() const;
    /// Of the run as it goes; from any thread.
    const Statistics& statistics() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::session
