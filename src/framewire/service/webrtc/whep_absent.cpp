// Replaces WebRTC in a build without GStreamer (FRAMEWIRE_RTSP=OFF).

#include "framewire/core/error.hpp"
#include "framewire/service/webrtc/whep_server.hpp"

namespace framewire::service {

struct WhepServer::State {};

WhepServer::WhepServer(const WhepOptions&) {}
WhepServer::~WhepServer() = default;

void WhepServer::require() { fail(ErrorCode::config, "this build has no WebRTC; build with -DFRAMEWIRE_RTSP=ON"); }
net::http::Response WhepServer::open(std::shared_ptr<CameraVideo>, const net::http::Request&) {
    require();
    return {};
}
net::http::Response WhepServer::close(const std::string&, const std::string&) {
    require();
    return {};
}
WhepStatistics WhepServer::statistics() const { return {}; }
int WhepServer::sessions_of(const std::string&) const { return 0; }

}  // namespace framewire::service
