#pragma once

#include "framewire/net/control.hpp"
#include "framewire/service/web/json.hpp"

#include <string>

namespace framewire::service::web {

/// Returns the statistics in Prometheus's text format, version 0.0.4.
std::string metrics_text(const LiveCameras& cameras, const net::ServerMetrics& viewers,
                         const VideosFigures& videos = {});

}  // namespace framewire::service::web
