#include "framewire/net/http.hpp"
#include "framewire/core/error.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace framewire::net::http {
namespace {

Route route(Method method, const std::string& pattern, bool websocket = false, const std::string& query = "") {
    return {method, pattern, Access::everybody, [](const Request&) { return json_response("{}"); }, websocket, query};
}

std::string matched(const Site& site, const std::string& path, bool websocket = false, Method method = Method::get) {
    const auto match = site.match(method, path, {}, websocket);
    return match.route ? match.route->pattern : "";
}

TEST(Site, FindsTheMostSpecificRoute) {
    Site site;
    site.add(route(Method::get, "/{a}/{b}"));
    site.add(route(Method::get, "/api/{b}"));
    site.add(route(Method::get, "/{a}/stats"));
    site.add(route(Method::get, "/"));
    site.add(route(Method::get, "/{camera}/"));
    site.add(route(Method::get, "/events", true));
    EXPECT_EQ(matched(site, "/"), "/");
    EXPECT_EQ(matched(site, "/x/y"), "/{a}/{b}");
    EXPECT_EQ(matched(site, "/api/y"), "/api/{b}");
    EXPECT_EQ(matched(site, "/api/stats"), "/api/{b}");
    EXPECT_EQ(matched(site, "/x/stats"), "/{a}/stats");
    EXPECT_EQ(matched(site, "/door/"), "/{camera}/");
    EXPECT_EQ(matched(site, "/door"), "");
    EXPECT_EQ(matched(site, "/x/y/z"), "");
    EXPECT_EQ(matched(site, "/events"), "");
    EXPECT_EQ(matched(site, "/events", true), "/events");
    EXPECT_EQ(matched(site, "/x/y", true), "");
    EXPECT_EQ(site.match(Method::get, "/door/", {}, false).parameters.at("camera"), "door");
    EXPECT_EQ(site.match(Method::get, "/x/y", {}, false).parameters.at("b"), "y");
}

TEST(Site, ListsTheAllowedMethods) {
    Site site;
    site.add(route(Method::get, "/a"));
    site.add(route(Method::put, "/a"));
    EXPECT_EQ(matched(site, "/a", false, Method::head), "/a");
    const auto match = site.match(Method::post, "/a", {}, false);
    EXPECT_EQ(match.route, nullptr);
    EXPECT_EQ(match.allowed, (std::vector{Method::get, Method::head, Method::put}));
    EXPECT_TRUE(site.match(Method::get, "/b", {}, false).allowed.empty());
}

TEST(Site, SelectsRoutesByTheQuery) {
    Site site;
    site.add(route(Method::get, "/"));
    site.add(route(Method::get, "/", false, "action"));
    EXPECT_EQ(site.match(Method::get, "/", {{"x", ""}}, false).route->query, "");
    EXPECT_EQ(site.match(Method::get, "/", {{"action", "stream"}}, false).route->query, "action");
}

TEST(Site, RejectsShadowedAndInvalidRoutes) {
    Site site;
    site.add(route(Method::get, "/a/{x}"));
    EXPECT_NO_THROW(site.add(route(Method::put, "/a/{x}")));
    EXPECT_NO_THROW(site.add(route(Method::get, "/a/{x}", true)));
    for (const auto& wrong : {route(Method::get, "/a/{y}"), route(Method::get, "a"), route(Method::head, "/b"),
                              route(Method::put, "/b", true), Route{Method::get, "/b", Access::everybody, nullptr}})
        EXPECT_THROW(site.add(wrong), Error) << wrong.pattern;
}

}  // namespace
}  // namespace framewire::net::http
