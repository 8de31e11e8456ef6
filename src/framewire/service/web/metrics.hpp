#pragma once

#include "framewire/net/control.hpp"
#include "framewire/service/rtsp/rtsp_server.hpp"
#include "framewire/service/web/json.hpp"

#include <optional>
#include <string>

namespace framewire::service::web {

/// Returns the statistics in Prometheus's text format, version 0.0.4.
std::string metrics_text(const LiveCameras& cameras, const net::ServerMetrics& viewers,
                         const VideosFigures& videos = {}, const std::optional<RtspStatistics>& rtsp = {});

}  // namespace framewire::service::web
