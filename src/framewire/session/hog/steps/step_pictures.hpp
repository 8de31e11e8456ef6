#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/hog/hog.hpp"
#include "framewire/session/job/job_files.hpp"

#include <cstdint>
#include <string>

namespace framewire::session {

/// Writes a picture for each of hog_step_names as .png into `folder`, which is created if necessary. The pictures show
/// unnormalised cells, regardless of the descriptor's norm. Throws Error{io}.
void write_step_pictures(const std::string& folder, const HogParameters& parameters, HostView<const std::uint8_t> frame,
                         Executor& executor, bool replace);

/// Adds these pictures to the outputs. Does nothing if `folder` is empty.
void add_step_pictures(JobFiles& files, const std::string& folder);

}  // namespace framewire::session
