#pragma once

#include "framewire/net/http.hpp"
#include "framewire/service/video/camera_video.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace framewire::service {

/// Settings of WebRTC.
struct WhepOptions {
    /// First and last UDP port for sessions; none: free ports that the system selects.
    std::optional<std::pair<int, int>> ports{};
    /// Address that sessions use. Empty: all addresses of this machine except loopback ones.
    std::string address{};
    /// Maximum number of sessions. There are also no more than ports.
    int sessions_limit = 64;
    /// Maximum number of sessions that are not connected yet, in total and per peer.
    int connecting_limit = 32, connecting_limit_per_peer = 8;
    /// Time after which a session ends that is not connected.
    std::chrono::milliseconds connect_deadline{10'000};
    /// Time after which a session ends whose client sends no RTCP reports. They come at most 7.5 s apart.
    std::chrono::milliseconds silence_deadline{10'000};
    /// Path at which a reverse proxy publishes the server, see net::ListenerOptions.
    std::string base_path{};
};

/// Counters of WebRTC sessions.
struct WhepStatistics {
    /// Sessions now, and how many of them are connected.
    std::int64_t sessions = 0, connected = 0;
    /// Sessions since the start, and requests that were refused because there were too many.
    std::int64_t sessions_total = 0, refused = 0;

    friend bool operator==(const WhepStatistics&, const WhepStatistics&) = default;
};

/// Sends cameras as H.264 over WebRTC. Clients open sessions by WHEP (WebRTC-HTTP Egress Protocol, an IETF draft): POST
/// /NAME/whep with an offer returns the answer with all candidates, and DELETE at the address in Location ends the
/// session. There is no trickle ICE.
///
/// GStreamer's webrtcbin and libnice carry the sessions. They get only those values of an offer that WebrtcOffer has
/// checked, and none of its addresses, so nobody can direct packets to others. The certificate that the client presents
/// must have the offer's fingerprint, which webrtcbin does not check. Thread-safe.
class WhepServer {
public:
    /// GStreamer is loaded by the first session.
    explicit WhepServer(const WhepOptions& options);
    /// Ends all sessions.
    ~WhepServer();
    WhepServer(const WhepServer&) = delete;
    WhepServer& operator=(const WhepServer&) = delete;

    /// Throws Error{config} if this build has no WebRTC or GStreamer lacks an element.
    static void require();

    /// Opens a session for an offer. The response is complete once the answer is. Throws Error{usage} if the offer
    /// cannot be accepted and Error{config} if the camera has no video or require() throws.
    net::http::Response open(std::shared_ptr<CameraVideo> video, const net::http::Request& request);
    /// Ends a session. Throws Error{no_input} if the camera has no session with this id.
    net::http::Response close(const std::string& camera, const std::string& id);
    /// Returns the counters.
    WhepStatistics statistics() const;
    /// Returns the number of sessions of a camera.
    int sessions_of(const std::string& camera) const;

private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace framewire::service
