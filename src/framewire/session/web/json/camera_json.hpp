#pragma once

#include "framewire/session/live/live_camera.hpp"

#include <memory>
#include <string>
#include <vector>

namespace framewire::session::web {

/// Cameras in the order in which they are listed.
using LiveCameras = std::vector<std::shared_ptr<LiveCamera>>;

/// Returns a camera's state as the API's JSON object. The stream's address is `base_path`/NAME/stream.
std::string to_json(const LiveCameraState& state, const std::string& base_path);

/// Returns the states of all cameras: {"cameras":[...]}.
std::string cameras_json(const LiveCameras& cameras, const std::string& base_path);

/// Returns the statistics since the start, in total and per camera: {"viewers":{...},"cameras":{NAME:{...}}}.
std::string stats_json(const LiveCameras& cameras, const net::ServerMetrics& viewers);

}  // namespace framewire::session::web
