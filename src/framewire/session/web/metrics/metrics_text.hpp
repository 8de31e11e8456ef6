#pragma once

#include "framewire/net/session/metrics.hpp"
#include "framewire/session/web/json/camera_json.hpp"

#include <string>

namespace framewire::session::web {

/// The figures in Prometheus's text form 0.0.4.
std::string metrics_text(const LiveCameras& cameras, const net::ServerMetrics& viewers);

}  // namespace framewire::session::web
