#pragma once

#include "framewire/core/time.hpp"
#include "framewire/net/access.hpp"
#include "framewire/net/http.hpp"
#include "framewire/service/live_camera.hpp"
#include "framewire/service/onvif/soap.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::service::onvif {

/// Paths of the services below the server's base path.
inline constexpr std::string_view device_path = "/onvif/device_service", media_path = "/onvif/media_service";

/// The server that a device describes.
struct DeviceParts {
    /// Cameras; each is a profile and a video source, with its name as the token of both.
    std::vector<std::shared_ptr<LiveCamera>> cameras{};
    /// Password of any user; empty: none is needed.
    std::string token{};
    /// True if HTTP and RTSP use TLS.
    bool tls = false;
    /// Port of RTSP.
    std::uint16_t rtsp_port = 0;
    /// Prefix of the paths, see net::ListenerOptions.
    std::string base_path{};
    /// Identifies this server among devices: a UUID in the form 8-4-4-4-12.
    std::string uuid{};
};

/// The part of ONVIF that recorders need to find a camera's stream: the device and media services (ONVIF Core and Media
/// Service Specification, version 1), read only. Passwords are checked as WS-Security digests; a digest is accepted
/// within five minutes of its creation time and once. Wrong ones are limited per peer, separately from those of
/// viewers. Thread-safe.
class Device {
public:
    /// Time for which a digest is accepted, before and after the time that it contains.
    static constexpr std::chrono::seconds digest_validity{300};

    /// Stores the parts.
    explicit Device(DeviceParts parts);

    /// Returns the response to a request for one of the services.
    net::http::Response answer(const net::http::Request& request, bool is_media);

private:
    // Returns true if the request may be carried out.
    bool let_in(const SoapRequest& soap, const net::http::Request& request);
    bool is_right(const UsernameToken& token);
    const LiveCamera& camera_of(const SoapRequest& soap, std::string_view parameter) const;
    std::string device_body(const SoapRequest& soap, const std::string& base) const;
    std::string media_body(const SoapRequest& soap, const net::http::Request& request, const std::string& base) const;

    const DeviceParts parts_;
    std::mutex mutex_;
    net::Gate gate_;
    // nonces that were accepted, by the time until which they are remembered
    std::multimap<Clock::time_point, std::string> nonces_;
};

/// Adds the services to a site. Requests need no token over HTTP, because they carry their own.
void add_routes(net::http::Site& site, const std::shared_ptr<Device>& device);

/// Returns the UUID that stands for a name (RFC 9562, version 8: the first bits of its SHA-256 digest).
std::string uuid_of(std::string_view name);

}  // namespace framewire::service::onvif
