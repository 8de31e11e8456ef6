// Replaces the RTSP server in a build without GStreamer (FRAMEWIRE_RTSP=OFF).

#include "framewire/core/error.hpp"
#include "framewire/service/rtsp/rtsp_server.hpp"

namespace framewire::service {

struct RtspServer::State {
    net::Address address;
};

RtspServer::RtspServer(const RtspOptions&, std::vector<std::shared_ptr<CameraVideos>>) {
    fail(ErrorCode::config, "this build has no RTSP server; build with -DFRAMEWIRE_RTSP=ON");
}
RtspServer::~RtspServer() = default;
const net::Address& RtspServer::address() const { return state_->address; }
std::string RtspServer::url(const std::string&) const { return {}; }
RtspStatistics RtspServer::statistics() const { return {}; }

}  // namespace framewire::service
