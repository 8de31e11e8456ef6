// Routes for control requests: they change a camera and answer with its new state.
#include "framewire/core/error.hpp"
#include "framewire/core/text/excerpt.hpp"
#include "framewire/session/web/json/camera_json.hpp"
#include "framewire/session/web/json/orders.hpp"
#include "framewire/session/web/routes.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string>

namespace framewire::session::web {
namespace {

using net::http::error_response;
using net::http::json_response;
using net::http::Method;
using net::http::Request;
using net::http::Response;

// Carries out a request. Returns its own answer, or nothing to answer with the camera's state.
using Order = std::function<std::optional<Response>(LiveCamera&, const std::string& body)>;

// Refuses the request if the camera does not accept any, else carries it out and answers.
Response obey(const ShownCameras& cameras, const Request& request, const Order& order) {
    auto& camera = *cameras.of(request).camera;
    constexpr int forbidden = 403;
    if (!camera.state().may_be_set)
        return error_response(
            forbidden,
            fmt::format("camera '{}' takes no orders: 'serve --panel' lets viewers give them", camera.name()));
    try {
        if (auto answer = order(camera, request.body)) return *answer;
    } catch (const ExcerptError& error) {
        // caret lines are for terminals
        throw Error(error.code(), error.text());
    }
    return json_response(to_json(camera.state(), cameras.parts().base_path));
}

}  // namespace

// PUT sets a value, POST starts an action. The site checks access before the handler runs.
void add_order_routes(net::http::Site& site, const std::shared_ptr<ShownCameras>& cameras) {
    const auto add = [&](Method method, const char* what, Order order) {
        site.add({.method = method,
                  .pattern = fmt::format("/api/cameras/{{camera}}/{}", what),
                  .access = net::http::Access::panel,
                  .handler = [cameras, order = std::move(order)](const Request& request) {
                      return obey(*cameras, request, order);
                  }});
    };
    add(Method::put, "chain", [](LiveCamera& camera, const std::string& body) {
        camera.set_chain(read_chain_order(body));
        return std::nullopt;
    });
    add(Method::put, "controls", [](LiveCamera& camera, const std::string& body) {
        camera.control_by([&](const auto& now) { return read_control_order(body, now); });
        return std::nullopt;
    });
    add(Method::put, "threshold", [](LiveCamera& camera, const std::string& body) {
        const auto order = read_threshold_order(body);
        camera.set_threshold(order.threshold, order.mode);
        return std::nullopt;
    });
    add(Method::put, "zones", [](LiveCamera& camera, const std::string& body) {
        camera.set_zones(read_zones_order(body));
        return std::nullopt;
    });
    add(Method::post, "record", [](LiveCamera& camera, const std::string& body) {
        if (read_record_order(body))
            camera.start_recording();
        else
            camera.stop_recording();
        return std::nullopt;
    });
    add(Method::post, "snapshot", [](LiveCamera& camera, const std::string& body) {
        read_empty_order(body);
        return std::optional(json_response(nlohmann::json{{"file", camera.save_snapshot()}}.dump()));
    });
}

}  // namespace framewire::session::web
