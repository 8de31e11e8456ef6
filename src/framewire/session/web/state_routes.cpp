#include "framewire/pipeline/listing/registry_json.hpp"
#include "framewire/session/web/json/camera_json.hpp"
#include "framewire/session/web/metrics/metrics_text.hpp"
#include "framewire/session/web/routes.hpp"

#include <fmt/ranges.h>

#include <string>
#include <vector>

namespace framewire::session::web {
namespace {

using net::http::Access;
using net::http::json_response;
using net::http::Request;
using net::http::Response;

// Makes an answer with a text body.
Response text_response(std::string text, std::string type, int status = 200) {
    return {.status = status,
            .content_type = std::move(type),
            .body = std::make_shared<const std::string>(std::move(text))};
}

Response plain(std::string text, int status = 200) {
    return text_response(std::move(text), "text/plain; charset=utf-8", status);
}

// Names of cameras are only shown to clients that may see the cameras.
Response readiness(const ShownCameras& cameras, bool let_in) {
    std::vector<std::string> waiting;
    for (const auto& camera : cameras.parts().cameras)
        if (camera->picture_version() == 0) waiting.push_back(camera->name());
    if (waiting.empty()) return plain("ok\n");
    constexpr int unavailable = 503;
    return plain(let_in ? fmt::format("waiting for a first frame of {}\n", fmt::join(waiting, ", "))
                        : "waiting for first frames\n",
                 unavailable);
}

// Describes the server. Without access the answer only says that a token is needed.
Response server(const SiteParts& parts, bool let_in) {
    if (!let_in) return json_response(R"({"token":true})");
    return json_response(fmt::format(R"({{"name":"framewire","version":"{}","token":{},"tls":{},"recordings":{}}})",
                                     FRAMEWIRE_VERSION, parts.has_token, parts.has_tls, parts.takes_recordings));
}

}  // namespace

// Health, readiness and the kind of the server are public; everything else needs a viewer's access.
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
        return json_response(stats_json(cameras->parts().cameras, cameras->parts().viewers()));
    });
    add("/metrics", Access::viewers, [cameras](const Request&) {
        return text_response(metrics_text(cameras->parts().cameras, cameras->parts().viewers()),
                             "text/plain; version=0.0.4; charset=utf-8");
    });
}

}  // namespace framewire::session::web
