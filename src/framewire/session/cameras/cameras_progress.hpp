#pragma once

#include "framewire/pipeline/statistics/progress.hpp"
#include "framewire/session/cameras/camera.hpp"
#include "framewire/session/cameras/cameras.hpp"

#include <memory>
#include <vector>

namespace framewire::session {

/// Returns the totals so far; from any thread.
CamerasTotal total_of(const std::vector<std::unique_ptr<Camera>>& cameras);

/// Returns lines for Progress: the total as text, and as JSON the total with each camera's progress_json() in
/// `cameras`. Refers to `cameras`.
ProgressLines progress_lines(const std::vector<std::unique_ptr<Camera>>& cameras);

}  // namespace framewire::session
