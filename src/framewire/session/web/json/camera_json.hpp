#pragma once

#include "framewire/session/live/live_camera.hpp"

#include <memory>
#include <string>
#include <vector>

namespace framewire::session::web {

using LiveCameras = std::vector<std::shared_ptr<LiveCamera>>;

/// A camera as the API shows it. The stream's address begins with `base_path`.
std::string to_json(const LiveCameraState& state, const std::string& base_path);

/// All of them: {"cameras":[...]}.
std::string cameras_json(const LiveCameras& cameras, const std::string& base_path);

/// {"viewers":{...},"cameras":{NAME:{...}}}, of all and of each camera since it is served.
std::string stats_json(const LiveCameras& cameras, const net::ServerMetrics& viewers);

}  // namespace framewire::session::web
