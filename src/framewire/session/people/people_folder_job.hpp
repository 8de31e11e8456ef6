#pragma once

#include "framewire/hog/window_model.hpp"
#include "framewire/pipeline/statistics/statistics.hpp"
#include "framewire/session/people/people_options.hpp"

#include <memory>

namespace framewire::session {

/// Finds people in the images of a folder, which may have any sizes. Writes one record per image, with its name, and
/// optionally annotated images: NAME.jpg becomes NAME.png in a folder, which is created if necessary. An image smaller
/// than the smallest window has no people, and a warning is logged; an image that fails is logged and skipped. A job
/// runs once.
class PeopleFolderJob {
public:
    /// Reads the model and lists the images. Throws as read_window_model(), FrameJob and OutputFile do, and
    /// Error{usage} if annotated images do not go to a folder, or to that of the images, or if two images differ only
    /// in their endings.
    explicit PeopleFolderJob(const PeopleOptions& options);
    ~PeopleFolderJob();

    /// The model in use.
    const WindowModel& model() const;

    /// Runs the job; may be called once. Records found before an error are written. Throws after the last image if any
    /// image failed, and if the run ended early.
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
