#pragma once

#include "framewire/net/address.hpp"
#include "framewire/net/tls.hpp"
#include "framewire/service/video/camera_video.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace framewire::service {

/// Settings of an RTSP server.
struct RtspOptions {
    /// Address to listen at. Without a value there is no RTSP server. Port 0 selects a free port.
    std::optional<net::Address> listen{};
    /// Token that clients need, as the password of any user (Digest, RFC 7616 with MD5). Empty: none, which is allowed
    /// only on a loopback address unless `open` is true.
    std::string token{};
    bool open = false;
    /// If set, every connection uses TLS (rtsps) and the server presents this identity. RTP is then only interleaved in
    /// the connection, because RTP over UDP would not be encrypted.
    std::optional<net::TlsIdentity> tls{};
    /// Maximum number of sessions, one per client that has set up a stream.
    int sessions_limit = 64;
    /// Time after which the session of a client over UDP ends that sends neither requests nor RTCP reports.
    std::chrono::seconds session_timeout{60};
    /// Time after which a connection without a session is closed.
    std::chrono::seconds setup_deadline{10};
    /// Time after which a connection is closed whose client accepts none of the bytes that wait for it.
    std::chrono::seconds write_deadline{10};
    /// Time after which a connection is closed over which video waits all the time, because the client reads too
    /// slowly.
    std::chrono::seconds behind_deadline{10};
    /// True if the job also describes the server to ONVIF clients; RtspServer itself ignores it.
    bool onvif = false;
};

/// Counters of an RTSP server.
struct RtspStatistics {
    /// Sessions now, and since the start.
    std::int64_t sessions = 0, sessions_total = 0;
    /// Connections and requests that were refused: too many, or a wrong token.
    std::int64_t refused = 0;

    friend bool operator==(const RtspStatistics&, const RtspStatistics&) = default;
};

/// Serves cameras as H.264 over RTSP 1.0 (RFC 2326): rtsp://HOST:PORT/NAME, with RTP over UDP or interleaved in the TCP
/// connection, by GStreamer's RTSP server. All clients of a variant share one stream, and so one encoder. A client
/// that does not read is disconnected after the write deadline, and one that reads too slowly after the deadline for
/// those who are behind. Clients can only play: ANNOUNCE and RECORD are refused, and RTP is sent only to the address
/// from which the client has connected. Thread-safe.
class RtspServer {
public:
    /// Starts to listen. Throws Error{usage} if a token is required and missing, and Error{config} if the address is
    /// not available, this build has no RTSP, or a GStreamer plugin is missing.
    RtspServer(const RtspOptions& options, std::vector<std::shared_ptr<CameraVideos>> cameras);
    /// Closes all connections.
    ~RtspServer();
    RtspServer(const RtspServer&) = delete;
    RtspServer& operator=(const RtspServer&) = delete;

    /// Returns the requested address with the port in use.
    const net::Address& address() const;
    /// Returns the address of a camera, such as "rtsp://127.0.0.1:8554/door".
    std::string url(const std::string& camera) const;
    /// Returns the counters.
    RtspStatistics statistics() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::service
