#pragma once

#include "framewire/pipeline/statistics/progress.hpp"
#include "framewire/session/cameras/camera.hpp"
#include "framewire/session/cameras/cameras.hpp"

#include <memory>
#include <vector>

namespace framewire::session {

/// What they have come to so far; from any thread.
CamerasTotal total_of(const std::vector<std::unique_ptr<Camera>>& cameras);

/// For Progress: a bar of the total; as JSON the total, and in `cameras` each camera's progress_json() by its name.
/// Refers to `cameras`.
ProgressLines progress_lines(const std::vector<std::unique_ptr<Camera>>& cameras);

}  // namespace framewire::session
