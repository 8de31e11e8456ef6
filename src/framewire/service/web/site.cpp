#include "framewire/service/web/site.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/json_text.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/text.hpp"
#include "framewire/media/image_formats.hpp"
#include "framewire/plan/chain.hpp"
#include "framewire/service/events.hpp"
#include "framewire/service/onvif/device.hpp"
#include "framewire/service/video/http_video.hpp"
#include "framewire/service/web/embedded_files.hpp"
#include "framewire/service/web/json.hpp"
#include "framewire/service/web/metrics.hpp"
#include "framewire/service/webrtc/webrtc_offer.hpp"
#include "framewire/service/webrtc/whep_server.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace framewire::service::web {
namespace {

using net::http::Request;
using net::http::Response;

// Responds with the events of the camera that the query names, or of all cameras if it names none.
Response events_of(const EventFeeds& feeds, const Request& request,
                   EventFeeds::FeedPointer (EventFeeds::*form)(const std::string& camera) const) {
    const auto named = request.query.find("camera");
    const auto camera = named == request.query.end() ? std::string() : named->second;
    auto feed = (feeds.*form)(camera);
    if (!feed)
        fail(ErrorCode::no_input, "no camera named {} detects moving objects (serve --detect)", in_quotes(camera));
    return {.content_type = "text/event-stream", .feed = std::move(feed)};
}

}  // namespace

// One path serves both forms: a WebSocket handshake gets messages, any other request gets server-sent events.
void add_event_routes(net::http::Site& site, const EventFeeds& events) {
    for (const bool websocket : {false, true}) {
        const auto form = websocket ? &EventFeeds::messages : &EventFeeds::server_sent;
        site.add({.pattern = "/api/events",
                  .access = net::http::Access::viewers,
                  .handler = [&events, form](const Request& request) { return events_of(events, request, form); },
                  .websocket = websocket});
    }
}

namespace {

using net::http::Request;
using net::http::Response;

// Returns the handler for a file. Browsers revalidate with the entity tag each time (RFC 9110, section 8.8.3), so an
// unchanged file costs no body bytes.
net::http::Handler handler_of(const EmbeddedFile& file) {
    const auto bytes = std::make_shared<const std::string>(file.bytes);
    const auto tag = fmt::format("\"{:016x}\"", std::hash<std::string_view>{}(file.bytes));
    return [bytes, tag, type = std::string(file.content_type)](const Request& request) {
        Response response{.content_type = type, .headers = {{"ETag", tag}, {"Cache-Control", "no-cache"}}};
        if (request.if_none_match.find(tag) != std::string::npos)
            response.status = 304;
        else
            response.body = bytes;
        return response;
    };
}

}  // namespace

// The view of a camera is the same file for all cameras, and says nothing about them to clients without a token.
void add_file_routes(net::http::Site& site, const std::shared_ptr<ShownCameras>& cameras) {
    constexpr std::string_view index = "/index.html", view = "/view.html";
    for (const auto& file : embedded_files()) {
        const auto is_view = file.path == view;
        const auto path = file.path == index ? "/" : is_view ? "/{camera}/view" : std::string(file.path);
        auto handler = handler_of(file);
        if (is_view)
            handler = [cameras, handler = std::move(handler)](const Request& request) {
                if (request.let_in) cameras->of(request);
                return handler(request);
            };
        site.add(
            {.pattern = path, .access = net::http::Access::everybody, .handler = std::move(handler), .at_once = true});
    }
}

}  // namespace framewire::service::web

// Routes for control requests, which change a camera and respond with its new state.

namespace framewire::service::web {
namespace {

using net::http::error_response;
using net::http::json_response;
using net::http::Method;
using net::http::Request;
using net::http::Response;

// Carries out a request. Returns the response, or nullopt to respond with the camera's state.
using ControlHandler = std::function<std::optional<Response>(LiveCamera&, const std::string& body)>;

// Refuses the request if the camera accepts none; otherwise carries it out and returns the response.
Response obey(const ShownCameras& cameras, const Request& request, const ControlHandler& handler) {
    auto& camera = *cameras.of(request).camera;
    constexpr int forbidden = 403;
    if (!camera.state().may_be_set)
        return error_response(
            forbidden, fmt::format("camera '{}' does not accept control requests: allow them with 'serve --controls'",
                                   camera.name()));
    try {
        if (auto answer = handler(camera, request.body)) return *answer;
    } catch (const ExcerptError& error) {
        // caret lines are for terminals
        throw Error(error.code(), error.text());
    }
    return json_response(to_json(camera.state(), cameras.parts().base_path));
}

}  // namespace

// PUT sets a value, POST starts an action. The site checks access before the handler runs.
void add_control_routes(net::http::Site& site, const std::shared_ptr<ShownCameras>& cameras) {
    const auto add = [&](Method method, const char* what, ControlHandler handler) {
        site.add({.method = method,
                  .pattern = fmt::format("/api/cameras/{{camera}}/{}", what),
                  .access = net::http::Access::control,
                  .handler = [cameras, handler = std::move(handler)](const Request& request) {
                      return obey(*cameras, request, handler);
                  }});
    };
    add(Method::put, "chain", [](LiveCamera& camera, const std::string& body) {
        camera.set_chain(read_chain_request(body));
        return std::nullopt;
    });
    add(Method::put, "controls", [](LiveCamera& camera, const std::string& body) {
        camera.control_by([&](const auto& now) { return read_control_request(body, now); });
        return std::nullopt;
    });
    add(Method::put, "threshold", [](LiveCamera& camera, const std::string& body) {
        const auto wanted = read_threshold_request(body);
        camera.set_threshold(wanted.threshold, wanted.mode);
        return std::nullopt;
    });
    add(Method::put, "zones", [](LiveCamera& camera, const std::string& body) {
        camera.set_zones(read_zones_request(body));
        return std::nullopt;
    });
    add(Method::put, "event-zones", [](LiveCamera& camera, const std::string& body) {
        camera.set_event_zones(ZoneSet::parse(body, "the request"));
        return std::nullopt;
    });
    add(Method::post, "record", [](LiveCamera& camera, const std::string& body) {
        if (read_record_request(body))
            camera.start_recording();
        else
            camera.stop_recording();
        return std::nullopt;
    });
    add(Method::post, "snapshot", [](LiveCamera& camera, const std::string& body) {
        read_empty_request(body);
        return std::optional(json_response(json_text(nlohmann::json{{"file", camera.save_snapshot()}})));
    });
}

namespace {

using net::http::error_response;
using net::http::Request;
using net::http::Response;

// Returns the newest picture as a file, or status 503 before the first frame.
Response file_response(ShownCamera& shown, const char* type, CameraPictures::File (CameraPictures::*file)()) {
    constexpr int unavailable = 503;
    if (shown.camera->picture_version() == 0)
        return error_response(unavailable, "camera '" + shown.camera->name() + "' has no frame yet");
    return {.content_type = type, .body = (shown.pictures.*file)()};
}

Response jpeg(ShownCamera& shown) { return file_response(shown, "image/jpeg", &CameraPictures::jpeg); }

Response png(ShownCamera& shown) { return file_response(shown, "image/png", &CameraPictures::png); }

// Responds with Motion JPEG, which ends only when the client or the camera does.
Response mjpeg(ShownCamera& shown) {
    return {.content_type = std::string(Mjpeg::content_type), .feed = shown.mjpeg.feed()};
}

// Handles the `action` query parameter of mjpg-streamer.
Response action(ShownCamera& shown, const Request& request) {
    const auto& what = request.query.at("action");
    if (what == "stream") return mjpeg(shown);
    if (what == "snapshot") return jpeg(shown);
    fail(ErrorCode::usage, "unknown action {}; allowed: stream, snapshot", in_quotes(what));
}

}  // namespace

// The routes without a camera's name show the first camera.
void add_picture_routes(net::http::Site& site, const std::shared_ptr<ShownCameras>& cameras) {
    using net::http::Access;
    const auto add = [&](const char* pattern, Response (*answer)(ShownCamera&)) {
        site.add({.pattern = pattern, .access = Access::viewers, .handler = [cameras, answer](const Request& request) {
                      return answer(cameras->of(request));
                  }});
    };
    add("/{camera}/stream.mjpeg", mjpeg);
    add("/{camera}/snapshot.jpg", jpeg);
    add("/{camera}/snapshot.png", png);
    for (const auto* pattern : {"/", "/{camera}/"})
        site.add({.pattern = pattern,
                  .access = Access::viewers,
                  .handler = [cameras](const Request& request) { return action(cameras->of(request), request); },
                  .query = "action"});
}

ShownCameras::ShownCameras(const SiteParts& parts) : parts_(parts) {
    if (parts.cameras.empty()) fail(ErrorCode::usage, "there are no cameras to show");
    for (const auto& camera : parts.cameras) all_.push_back(std::make_unique<ShownCamera>(camera));
    for (std::size_t i = 0; i < parts.videos.size(); ++i) {
        all_.at(i)->videos = parts.videos[i];
        all_.at(i)->video = std::make_shared<HttpVideos>(parts.videos[i]);
    }
}

ShownCamera& ShownCameras::of(const net::http::Request& request) const {
    const auto named = request.parameters.find("camera");
    if (named == request.parameters.end()) return *all_.front();
    // Collected for the message, in case no camera has the name.
    std::vector<std::string> names;
    for (const auto& shown : all_) {
        if (shown->camera->name() == named->second) return *shown;
        names.push_back(shown->camera->name());
    }
    fail(ErrorCode::no_input, "there is no camera {}; available: {}", in_quotes(named->second), fmt::join(names, ", "));
}

std::shared_ptr<const net::http::Site> make_site(const SiteParts& parts) {
    // Handlers share the cameras, so they live as long as the site.
    const auto cameras = std::make_shared<ShownCameras>(parts);
    auto site = std::make_shared<net::http::Site>();
    add_file_routes(*site, cameras);
    add_state_routes(*site, cameras);
    add_event_routes(*site, *parts.events);
    add_control_routes(*site, cameras);
    add_picture_routes(*site, cameras);
    if (parts.onvif) onvif::add_routes(*site, parts.onvif);
    add_video_routes(*site, cameras);
    return site;
}

namespace {

using net::http::Request;
using net::http::Response;

// Opens a WebRTC session for the offer in the body.
Response open_session(WhepServer& server, CameraVideos& videos, const Request& request) {
    if (!request.content_type.starts_with("application/sdp"))
        return net::http::error_response(415, "the body must have the type application/sdp");
    if (request.body.size() > WebrtcOffer::limit_bytes)
        return net::http::error_response(413,
                                         fmt::format("the offer is larger than {} bytes", WebrtcOffer::limit_bytes));
    return server.open(videos.variant(VideoVariant::parse(request.query)), request);
}

// WebRTC sessions by WHEP. The methods that the draft reserves get 405.
void add_webrtc_routes(net::http::Site& site, const std::shared_ptr<ShownCameras>& cameras) {
    const auto server = [cameras]() -> WhepServer& {
        const auto& found = cameras->parts().webrtc;
        if (!found) fail(ErrorCode::no_input, "this server offers no H.264 video (serve --video)");
        return *found;
    };
    site.add({.method = net::http::Method::post,
              .pattern = "/{camera}/whep",
              .access = net::http::Access::viewers,
              .handler = [cameras, server](const Request& request) {
                  const auto& shown = cameras->of(request);
                  return open_session(server(), *shown.videos, request);
              }});
    site.add({.method = net::http::Method::remove,
              .pattern = "/{camera}/whep/{session}",
              .access = net::http::Access::viewers,
              .handler = [cameras, server](const Request& request) {
                  return server().close(cameras->of(request).camera->name(), request.parameters.at("session"));
              }});
}

}  // namespace

void add_video_routes(net::http::Site& site, const std::shared_ptr<ShownCameras>& cameras) {
    const auto add = [&](const char* pattern, Response (*answer)(HttpVideo&, const Request&)) {
        site.add({.pattern = pattern,
                  .access = net::http::Access::viewers,
                  .handler = [cameras, answer](const Request& request) {
                      const auto& shown = cameras->of(request);
                      if (!shown.video) fail(ErrorCode::no_input, "this server offers no H.264 video (serve --video)");
                      return answer(*shown.video->of(request.query), request);
                  }});
    };
    add("/{camera}/stream.mp4", [](HttpVideo& video, const Request&) { return video.mp4(); });
    add("/{camera}/index.m3u8", [](HttpVideo& video, const Request& request) { return video.playlist(request.query); });
    add("/{camera}/hls/{file}",
        [](HttpVideo& video, const Request& request) { return video.file(request.parameters.at("file")); });
    add_webrtc_routes(site, cameras);
}

namespace {

using net::http::Access;
using net::http::json_response;
using net::http::Request;
using net::http::Response;

// Returns a response with a text body.
Response text_response(std::string text, std::string type, int status = 200) {
    return {.status = status,
            .content_type = std::move(type),
            .body = std::make_shared<const std::string>(std::move(text))};
}

Response plain(std::string text, int status = 200) {
    return text_response(std::move(text), "text/plain; charset=utf-8", status);
}

// Reports whether all cameras have a frame. Their names are shown only to clients that may see the cameras.
Response readiness(const ShownCameras& cameras, bool let_in) {
    std::vector<std::string> waiting;
    for (const auto& camera : cameras.parts().cameras)
        if (camera->picture_version() == 0) waiting.push_back(camera->name());
    if (waiting.empty()) return plain("ok\n");
    constexpr int unavailable = 503;
    return plain(let_in ? fmt::format("waiting for the first frame of {}\n", fmt::join(waiting, ", "))
                        : "waiting for the first frame of each camera\n",
                 unavailable);
}

// Returns the counters of all cameras' video by camera; empty if the server offers none.
VideosFigures video_figures(const ShownCameras& cameras) {
    VideosFigures figures;
    const auto& webrtc = cameras.parts().webrtc;
    for (const auto& shown : cameras.all()) {
        if (!shown->video) continue;
        const auto& name = shown->camera->name();
        figures.emplace(name, VideoFigures{shown->video->statistics(), shown->video->clients(),
                                           webrtc ? webrtc->sessions_of(name) : 0});
    }
    return figures;
}

std::optional<RtspStatistics> rtsp_statistics(const SiteParts& parts) {
    return parts.rtsp ? parts.rtsp() : std::nullopt;
}

// Describes the server. Without access, the response only says that a token is needed.
Response server(const SiteParts& parts, bool let_in) {
    if (!let_in) return json_response(R"({"token":true})");
    return json_response(json_text(nlohmann::ordered_json{{"name", "framewire"},
                                                          {"version", FRAMEWIRE_VERSION},
                                                          {"token", parts.has_token},
                                                          {"tls", parts.has_tls},
                                                          {"recordings", parts.takes_recordings},
                                                          {"video", !parts.videos.empty()}}));
}

}  // namespace

// Health, readiness and the description of the server are public; everything else needs a viewer's access.
void add_state_routes(net::http::Site& site, const std::shared_ptr<ShownCameras>& cameras) {
    const auto add = [&](const char* pattern, Access access, net::http::Handler handler) {
        site.add({.pattern = pattern, .access = access, .handler = std::move(handler)});
    };
    site.add({.pattern = "/healthz",
              .access = Access::everybody,
              .handler = [](const Request&) { return plain("ok\n"); },
              .at_once = true});
    add("/readyz", Access::everybody,
        [cameras](const Request& request) { return readiness(*cameras, request.let_in); });
    add("/api/server", Access::everybody,
        [cameras](const Request& request) { return server(cameras->parts(), request.let_in); });
    add("/api/cameras", Access::viewers, [cameras](const Request&) {
        return json_response(cameras_json(cameras->parts().cameras, cameras->parts().base_path));
    });
    add("/api/cameras/{camera}", Access::viewers, [cameras](const Request& request) {
        return json_response(to_json(cameras->of(request).camera->state(), cameras->parts().base_path));
    });
    add("/api/filters", Access::viewers, [](const Request&) { return json_response(filters_json()); });
    add("/api/stats", Access::viewers, [cameras](const Request&) {
        const auto& parts = cameras->parts();
        return json_response(
            stats_json(parts.cameras, parts.viewers(), video_figures(*cameras), rtsp_statistics(parts)));
    });
    add("/metrics", Access::viewers, [cameras](const Request&) {
        const auto& parts = cameras->parts();
        return text_response(
            metrics_text(parts.cameras, parts.viewers(), video_figures(*cameras), rtsp_statistics(parts)),
            "text/plain; version=0.0.4; charset=utf-8");
    });
}

std::string CameraPictures::as_jpeg(HostView<const std::uint8_t> image) { return encode_jpeg(image); }

std::string CameraPictures::as_png(HostView<const std::uint8_t> image) {
    const auto bytes = encode_png(image);
    return {bytes.begin(), bytes.end()};
}

// The version may advance between the check and the copy; then the newer picture is encoded, with its own version.
CameraPictures::File CameraPictures::newest(Newest& kind) {
    const std::lock_guard lock(kind.mutex);
    if (kind.file && camera_->picture_version() == kind.version) return kind.file;
    const auto picture = camera_->picture();
    if (!picture) fail(ErrorCode::config, "camera '{}' has no frame yet", camera_->name());
    kind.file = std::make_shared<const std::string>(kind.encode(picture->image.view()));
    kind.version = picture->version;
    return kind.file;
}

namespace {

// Maximum delay until a new picture is noticed. Polling the version costs next to nothing.
constexpr std::chrono::milliseconds between_looks{4};

// Returns one part of the multipart response.
std::string part_of(const std::string& jpeg) {
    return fmt::format("--framewire\r\nContent-Type: image/jpeg\r\nContent-Length: {}\r\n\r\n{}\r\n", jpeg.size(),
                       jpeg);
}

}  // namespace

// State shared with the feed's callback, so that this object and the feed may be destroyed in any order.
struct Mjpeg::Wanted {
    std::mutex mutex;
    std::condition_variable_any changed;
    bool now = false, rests = false;

    void set(bool wanted) {
        {
            const std::lock_guard lock(mutex);
            now = wanted;
        }
        changed.notify_all();
    }
};

// The feed keeps only the newest picture per client, so a slow client skips pictures.
Mjpeg::Mjpeg(const LiveCamera& camera, CameraPictures& pictures)
    : camera_(&camera),
      pictures_(&pictures),
      feed_(std::make_shared<net::http::Feed>(net::http::FeedOptions{.newest_only = true})),
      wanted_(std::make_shared<Wanted>()) {
    feed_->on_wanted([wanted = wanted_](bool now) { wanted->set(now); });
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

Mjpeg::~Mjpeg() {
    thread_.request_stop();
    thread_.join();
    feed_->end();
}

bool Mjpeg::rests() const {
    const std::lock_guard lock(wanted_->mutex);
    return wanted_->rests && !wanted_->now;
}

const std::shared_ptr<net::http::Feed>& Mjpeg::feed() {
    const auto version = camera_->picture_version();
    const std::lock_guard lock(mutex_);
    // The client's first picture must not be older than a control request that was already answered.
    if (version != shown_) feed_->set_first(nullptr);
    return feed_;
}

// Encodes and publishes the newest picture. Throws if there is none. A picture that was withdrawn during encoding is
// not published.
void Mjpeg::show(std::uint64_t version) {
    const auto part = std::make_shared<const std::string>(part_of(*pictures_->jpeg()));
    const std::lock_guard lock(mutex_);
    if (version < camera_->oldest_picture_version()) return;
    shown_ = version;
    feed_->set_first(part);
    feed_->publish(part);
}

// Sleeps while there are no clients; otherwise polls the camera's version.
void Mjpeg::run(const std::stop_token& stop) {
    std::uint64_t seen = 0;
    while (!stop.stop_requested()) {
        {
            std::unique_lock lock(wanted_->mutex);
            if (!wanted_->now) {
                // the first part would be outdated for the next client
                feed_->set_first(nullptr);
                seen = 0;
            }
            wanted_->rests = !wanted_->now;
            if (!wanted_->changed.wait(lock, stop, [&] { return wanted_->now; })) return;
            wanted_->rests = false;
        }
        if (const auto version = camera_->picture_version(); version != seen) {
            seen = version;
            try {
                show(version);
            } catch (const std::exception& error) {
                log_warning("cannot show camera '{}' as Motion JPEG: {}", camera_->name(), error.what());
            }
        }
        std::this_thread::sleep_for(between_looks);
    }
}

}  // namespace framewire::service::web
