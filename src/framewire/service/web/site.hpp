#pragma once

#include "framewire/net/control.hpp"
#include "framewire/net/http.hpp"
#include "framewire/service/live_camera.hpp"
#include "framewire/service/rtsp/rtsp_server.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace framewire::service::web {

/// The picture that a camera's viewers see, as image files. Each format is encoded on request, once per version, and
/// shared by all requests. Thread-safe.
class CameraPictures {
public:
    /// Encoded image file, shared by all requests for it.
    using File = std::shared_ptr<const std::string>;

    /// Shares ownership of the camera.
    explicit CameraPictures(std::shared_ptr<LiveCamera> camera) : camera_(std::move(camera)) {}

    /// Returns the newest picture as JPEG. Throws Error{config} before the first frame, as png() does.
    File jpeg() { return newest(jpeg_); }
    /// Returns the newest picture as PNG, losslessly compressed.
    File png() { return newest(png_); }

private:
    // Newest file of one format. The mutex is held while encoding, so that simultaneous requests encode once.
    struct Newest {
        std::string (*encode)(HostView<const std::uint8_t> image);
        std::mutex mutex{};
        std::uint64_t version = 0;
        File file{};
    };

    File newest(Newest& kind);
    static std::string as_jpeg(HostView<const std::uint8_t> image);
    static std::string as_png(HostView<const std::uint8_t> image);

    std::shared_ptr<LiveCamera> camera_;
    Newest jpeg_{as_jpeg}, png_{as_png};
};

/// A camera as Motion JPEG. A thread publishes each new picture to a feed, and sleeps while there is no client. Slow
/// clients skip pictures.
class Mjpeg {
public:
    /// Content type of the response; its boundary separates the pictures (RFC 2046, section 5.1).
    static constexpr std::string_view content_type = "multipart/x-mixed-replace; boundary=framewire";

    /// Starts the thread. Both arguments must outlive this object.
    Mjpeg(const LiveCamera& camera, CameraPictures& pictures);
    /// Ends the responses of all clients.
    ~Mjpeg();
    Mjpeg(const Mjpeg&) = delete;
    Mjpeg& operator=(const Mjpeg&) = delete;

    /// Returns the feed for one more client, which starts with the newest picture or a later one.
    const std::shared_ptr<net::http::Feed>& feed();
    /// Returns true while the thread sleeps because there is no client; it then takes no pictures.
    bool rests() const;

private:
    struct Wanted;
    void run(const std::stop_token& stop);
    // Publishes the newest picture.
    void show(std::uint64_t version);

    const LiveCamera* camera_;
    CameraPictures* pictures_;
    // guards what is published, so that versions never go back
    std::mutex mutex_;
    // newest version published
    std::uint64_t shown_ = 0;
    std::shared_ptr<net::http::Feed> feed_;
    std::shared_ptr<Wanted> wanted_;
    std::jthread thread_;
};

}  // namespace framewire::service::web

namespace framewire::service {
class CameraVideos;
namespace onvif {
class Device;
}
class EventFeeds;
class HttpVideos;
class WhepServer;
}  // namespace framewire::service

namespace framewire::service::web {

/// Everything that a server shows to browsers and other tools.
struct SiteParts {
    /// Cameras; routes without a camera's name show the first one.
    std::vector<std::shared_ptr<LiveCamera>> cameras{};
    /// H.264 video of the cameras, in the same order; empty if the server offers none.
    std::vector<std::shared_ptr<CameraVideos>> videos{};
    /// WebRTC sessions; null if the server offers none.
    std::shared_ptr<WhepServer> webrtc{};
    /// Returns the traffic to viewers of all cameras; called from any thread.
    std::function<net::ServerMetrics()> viewers{};
    /// Returns the counters of the RTSP server, or nothing if there is none; called from any thread. May be empty.
    std::function<std::optional<RtspStatistics>()> rtsp{};
    /// Event feeds. Must be set, and must outlive the site.
    const EventFeeds* events = nullptr;
    /// True if viewers need a token.
    bool has_token = false;
    /// True if connections use TLS.
    bool has_tls = false;
    /// True if there is a folder for recordings.
    bool takes_recordings = false;
    /// Prefix of the addresses that the API returns, see net::ListenerOptions.
    std::string base_path{};
    /// Optional. Answers ONVIF requests.
    std::shared_ptr<onvif::Device> onvif{};
};

/// Creates the site: page, API, metrics, and pictures for other tools (docs/web.md). Everything that `parts` refers to
/// must outlive it; the site's threads end with it.
std::shared_ptr<const net::http::Site> make_site(const SiteParts& parts);

/// A served camera with its encoded pictures.
struct ShownCamera {
    /// Shares ownership of the camera, to which `pictures` and `mjpeg` refer.
    explicit ShownCamera(std::shared_ptr<LiveCamera> shown) : camera(std::move(shown)) {}

    /// Camera that is shown.
    std::shared_ptr<LiveCamera> camera;
    /// Its picture as JPEG and PNG files.
    CameraPictures pictures{camera};
    /// Its picture as Motion JPEG.
    Mjpeg mjpeg{*camera, pictures};
    /// Its video as fragmented MP4 and HLS; null if the server offers none.
    std::shared_ptr<HttpVideos> video{};
    /// All sizes and rates of its video; null if the server offers none.
    std::shared_ptr<CameraVideos> videos{};
};

/// The cameras of a site, shared by its route handlers. Does not change after construction.
class ShownCameras {
public:
    /// Throws Error{usage} if there is no camera.
    explicit ShownCameras(const SiteParts& parts);

    /// Parts of the site, as given to the constructor.
    const SiteParts& parts() const { return parts_; }
    /// Returns the camera that the request's path names, or the first one if the path has no name. Throws
    /// Error{no_input} if there is no such camera.
    ShownCamera& of(const net::http::Request& request) const;
    /// Returns all cameras in their order.
    const std::vector<std::unique_ptr<ShownCamera>>& all() const { return all_; }

private:
    SiteParts parts_;
    std::vector<std::unique_ptr<ShownCamera>> all_;
};

/// Adds the routes for the page's files, the view of each camera, and the API's OpenAPI document. They need no token.
void add_file_routes(net::http::Site& site, const std::shared_ptr<ShownCameras>& cameras);
/// Adds the routes for queries: cameras, filters, statistics, metrics, health and readiness.
void add_state_routes(net::http::Site& site, const std::shared_ptr<ShownCameras>& cameras);
/// Adds the routes for objects and motion events, as server-sent events or WebSocket messages. `events` must outlive
/// the site.
void add_event_routes(net::http::Site& site, const EventFeeds& events);
/// Adds the routes for a camera's control requests.
void add_control_routes(net::http::Site& site, const std::shared_ptr<ShownCameras>& cameras);
/// Adds the routes for video: fragmented MP4, HLS and WebRTC. Without video, they are refused with a hint.
void add_video_routes(net::http::Site& site, const std::shared_ptr<ShownCameras>& cameras);
/// Adds the routes for pictures: files and Motion JPEG, also at the addresses that mjpg-streamer uses.
void add_picture_routes(net::http::Site& site, const std::shared_ptr<ShownCameras>& cameras);

}  // namespace framewire::service::web
