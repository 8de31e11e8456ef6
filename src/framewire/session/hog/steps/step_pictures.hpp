#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/hog/hog.hpp"
#include "framewire/session/job/job_files.hpp"

#include <cstdint>
#include <string>

namespace framewire::session {

/// Pictures of the steps of a frame's descriptor, whatever its norm: hog_step_names as .png in a folder, which is made
/// where it is missing. Throws Error{io}.
void write_step_pictures(const std::string& folder, const HogParameters& parameters, HostView<const std::uint8_t> frame,
                         Executor& executor, bool replace);

/// Adds them to the outputs; none where `folder` is empty.
void add_step_pictures(JobFiles& files, const std::string& folder);

}  // namespace framewire::session
