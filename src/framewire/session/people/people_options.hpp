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

/// What people are found by.
struct PeopleOptions {
    JobOptions job{};
    InputOptions input{};
    std::string model{};      ///< the file of the model, see read_window_model()
    WindowModel window{};     ///< the window and the descriptor of a file that does not bring its own; without weights
    ParameterValues asked{};  ///< of the window and the descriptor: what a model that brings its own must be
    PeopleParameters people{};
    std::string output{"-"};  ///< the records' file, JSON lines; - is standard output
    std::string annotate{};   ///< frames with boxes and scores: see open_sink(), a folder of a PeopleFolderJob
    bool audio = true;        ///< the source's sound goes along with them where that output takes it
};

/// What these options read and write. Throws Error{usage} where both outputs are standard output.
JobFiles files_of(const PeopleOptions& options);

struct PeopleResult : JobResult {
    std::int64_t people = 0;
    std::optional<float> best_score{};
    std::int64_t frames_left_out = 0;  ///< frames where more windows scored above the threshold than are looked at
};

}  // namespace framewire::session
