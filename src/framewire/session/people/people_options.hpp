#pragma once

#include "framewire/hog/people/people_detector.hpp"
#include "framewire/hog/window_model.hpp"
#include "framewire/session/job/job_files.hpp"
#include "framewire/session/job/result.hpp"
#include "framewire/session/options.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace framewire::session {

/// Options of a PeopleJob or PeopleFolderJob.
struct PeopleOptions {
    JobOptions job{};
    InputOptions input{};
    /// File of the model, see read_window_model().
    std::string model{};
    /// Window and descriptor for a model file that does not contain them; without weights.
    WindowModel window{};
    /// Window and descriptor parameters that were given; a model that contains its own must match them.
    ParameterValues asked{};
    PeopleParameters people{};
    /// File for the records, as JSON lines; - is standard output.
    std::string output{"-"};
    /// Optional. Sink for annotated frames, see open_sink(); for a PeopleFolderJob a folder.
    std::string annotate{};
    /// If true, the source's sound is copied to `annotate`, if that output can hold sound.
    bool audio = true;
};

/// Returns the files that these options read and write. Throws Error{usage} if both outputs are standard output.
JobFiles files_of(const PeopleOptions& options);

/// Outcome of a PeopleJob or PeopleFolderJob.
struct PeopleResult : JobResult {
    /// People found, summed over all frames.
    std::int64_t people = 0;
    /// Best score of all; empty if nobody was found.
    std::optional<float> best_score{};
    /// Frames in which more windows scored above the threshold than the detector examines.
    std::int64_t frames_left_out = 0;
};

}  // namespace framewire::session
