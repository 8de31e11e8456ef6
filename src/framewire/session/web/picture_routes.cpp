#include "framewire/session/web/routes.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/text/excerpt.hpp"

#include <string>

namespace framewire::session::web {
namespace {

using net::http::error_response;
using net::http::Request;
using net::http::Response;

// Answers 503 before the first frame.
Response file_response(ShownCamera& shown, const char* type, CameraPictures::File (CameraPictures::*file)()) {
    constexpr int unavailable = 503;
    if (shown.camera->picture_version() == 0)
        return error_response(unavailable, "camera '" + shown.camera->name() + "' has had no frame yet");
    return {.content_type = type, .body = (shown.pictures.*file)()};
}

Response jpeg(ShownCamera& shown) { return file_response(shown, "image/jpeg", &CameraPictures::jpeg); }

Response png(ShownCamera& shown) { return file_response(shown, "image/png", &CameraPictures::png); }

// Motion JPEG never ends by itself; the answer lasts as long as the client and the camera.
Response mjpeg(ShownCamera& shown) {
    return {.content_type = std::string(Mjpeg::content_type), .feed = shown.mjpeg.feed()};
}

// Routes with the query parameters of mjpg-streamer.
Response action(ShownCamera& shown, const Request& request) {
    const auto& what = request.query.at("action");
    if (what == "stream") return mjpeg(shown);
    if (what == "snapshot") return jpeg(shown);
    fail(ErrorCode::usage, "action {}; allowed are stream, snapshot", in_quotes(what));
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

}  // namespace framewire::session::web
