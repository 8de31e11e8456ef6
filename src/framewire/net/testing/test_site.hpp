#pragma once

#include "framewire/core/error.hpp"
#include "framewire/net/http.hpp"
#include "framewire/net/server.hpp"
#include "framewire/net/testing/test_http.hpp"
#include "framewire/net/testing/test_server.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace framewire::net::testing {

inline http::Response said(const std::string& text) {
    auto response = http::json_response(text);
    response.content_type = "text/plain";
    return response;
}

/// Returns a site with one route of each kind.
inline std::shared_ptr<http::Site> small_site() {
    using namespace http;
    auto site = std::make_shared<Site>();
    site->add({Method::get, "/", Access::everybody,
               [](const Request& request) { return said(request.let_in ? "let in" : "who are you?"); }});
    site->add({Method::get, "/cameras/{camera}", Access::viewers,
               [](const Request& request) { return said("camera " + request.parameters.at("camera")); }});
    site->add({Method::put, "/cameras/{camera}", Access::control,
               [](const Request& request) { return said(request.parameters.at("camera") + " gets " + request.body); }});
    site->add({Method::get, "/broken/{how}", Access::everybody, [](const Request& request) -> Response {
                   const auto& how = request.parameters.at("how");
                   if (how == "usage") fail(ErrorCode::usage, "a \"bad\" value");
                   if (how == "no_input") fail(ErrorCode::no_input, "no such thing");
                   if (how == "config") fail(ErrorCode::config, "not now");
                   throw std::runtime_error("broken");
               }});
    return site;
}

/// A server with small_site().
struct Served {
    explicit Served(ListenerOptions options = on_any_port()) : listener(std::move(options)) {
        listener.set_site(small_site());
    }
    HttpClient client() const { return HttpClient(listener.address().port); }

    Listener listener;
};

}  // namespace framewire::net::testing
