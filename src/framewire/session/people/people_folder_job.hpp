#pragma once

#include "framewire/core/view.hpp"
#include "framewire/hog/people/people_detector.hpp"
#include "framewire/session/input/folder_input.hpp"
#include "framewire/session/job/frame_job.hpp"
#include "framewire/session/people/found_people.hpp"
#include "framewire/session/people/people_options.hpp"
#include "framewire/session/people/people_records.hpp"
#include "framewire/session/people/score_labels.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace framewire::session {

/// People in a folder's images of any sizes: a record for each, with its name, and NAME.png with boxes and scores for
/// an image NAME.jpg in the folder for annotated ones, which is made where it is missing. An image smaller than the
/// smallest window has nobody, and a warning in the log. For one run.
class PeopleFolderJob {
public:
    /// Throws as read_window_model(), FrameJob and OutputFile do, Error{usage} where annotated images go to no folder
    /// or to that of the images, and where two images have one name but for their endings.
    explicit PeopleFolderJob(const PeopleOptions& options);

    const WindowModel& model() const { return model_; }

    /// To be called once. Throws what failed on the way, with the image's name, after what was found before was
    /// written.
    const PeopleResult& run();
    /// Of run(), when it threw, too.
    const PeopleResult& result() const { return result_; }
    /// Of the run as it goes; from any thread.
    const Statistics& statistics() const { return job_.statistics(); }

private:
    // Who is in an image is known when its stage ends.
    struct Found {
        FoundPeople people;

        void wait() const {}
    };

    void prepare(const Shape& shape);
    void start(InputFrame& frame, const FrameTime& time, FoundPeople& found);
    void send(InputFrame& frame, const FrameTime& time, const FoundPeople& found);

    PeopleParameters parameters_;
    WindowModel model_;
    FrameJob<FolderInput> job_;
    OutputFileOptions files_;
    std::vector<std::string> annotated_;  // of each image, or none at all
    PeopleResult result_;
    PeopleRecords records_;
    std::optional<ScoreLabels> labels_;  // where images are annotated

    std::optional<PeopleDetector> detector_;
    DetectedPeople people_;  // in the last image
    Shape shape_{};          // what detector_ is for
    std::string too_small_;  // why there is none
    std::int64_t annotated_bytes_ = 0;
};

}  // namespace framewire::session
