#pragma once

#include "framewire/hog/window_model.hpp"
#include "framewire/pipeline/statistics/statistics.hpp"
#include "framewire/session/people/people_options.hpp"

#include <memory>

namespace framewire::session {

/// People in a folder's images of any sizes: a record for each, with its name, and NAME.png with boxes and scores for
/// an image NAME.jpg in the folder for annotated ones, which is made where it is missing. An image smaller than the
/// smallest window has nobody, and a warning in the log; one that fails is logged and left out. For one run.
class PeopleFolderJob {
public:
    /// Throws as read_window_model(), FrameJob and OutputFile do, Error{usage} where annotated images go to no folder
    /// or to that of the images, and where two images have one name but for their endings.
    explicit PeopleFolderJob(const PeopleOptions& options);
    ~PeopleFolderJob();

    const WindowModel& model() const;

    /// To be called once. Throws after the last image if some failed, and what ended the run early, after what was
    /// found was written.
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
