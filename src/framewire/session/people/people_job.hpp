#pragma once

#include "framewire/hog/people/people_detector.hpp"
#include "framewire/session/input/filtered_input.hpp"
#include "framewire/session/job/frame_job.hpp"
#include "framewire/session/outputs/video_output.hpp"
#include "framewire/session/people/found_people.hpp"
#include "framewire/session/people/people_options.hpp"
#include "framewire/session/people/people_records.hpp"
#include "framewire/session/people/score_labels.hpp"

#include <optional>

namespace framewire::session {

/// From a source through filters to records of people, and a video of them. For one run.
class PeopleJob {
public:
    /// Opens all there is, what is cheap to refuse first and outputs last. Throws as read_window_model(),
    /// files_of(), FrameJob, PeopleDetector, open_sink() and OutputFile do.
    explicit PeopleJob(const PeopleOptions& options);

    const WindowModel& model() const { return model_; }
    const PeopleDetector& detector() const { return detector_; }

    /// To be called once. Throws what failed on the way, after what was found before was written; Error{no_input} where
    /// the source has no frames.
    const PeopleResult& run();
    /// Of run(), when it threw, too.
    const PeopleResult& result() const { return result_; }
    /// Of the run as it goes; from any thread.
    const Statistics& statistics() const { return job_.statistics(); }

private:
    void send(InputFrame& frame, const FrameTime& time, const DetectedPeople& people);

    WindowModel model_;
    FrameJob<FilteredInput> job_;
    PeopleDetector detector_;
    FoundPeople found_;  // in the last frame
    VideoOutput annotated_;
    std::optional<ScoreLabels> labels_;  // where frames are annotated
    PeopleResult result_;
    PeopleRecords records_;
};

}  // namespace framewire::session
