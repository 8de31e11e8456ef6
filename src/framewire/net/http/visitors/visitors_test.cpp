#include "framewire/net/http/visitors/visitors.hpp"

#include "framewire/core/error.hpp"
#include "framewire/net/http/feed.hpp"
#include "framewire/net/listener.hpp"
#include "framewire/net/testing/test_http.hpp"
#include "framewire/net/testing/test_server.hpp"
#include "framewire/net/testing/test_stream.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>

namespace framewire::net {
namespace visitors_test {

using namespace std::chrono_literals;
using http::Access;
using http::Method;
using http::Request;
using http::Response;
using testing::eventually;
using testing::HttpClient;
using testing::on_any_port;

Response said(const std::string& text) {
    auto response = http::json_response(text);
    response.content_type = "text/plain";
    return response;
}

// A route of each kind.
std::shared_ptr<http::Site> small_site() {
    auto site = std::make_shared<http::Site>();
    site->add({Method::get, "/", Access::everybody,
               [](const Request& request) { return said(request.let_in ? "let in" : "who are you?"); }});
    site->add({Method::get, "/cameras/{camera}", Access::viewers,
               [](const Request& request) { return said("camera " + request.parameters.at("camera")); }});
    site->add({Method::put, "/cameras/{camera}", Access::panel,
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

struct Served {
    explicit Served(ListenerOptions options = on_any_port()) : listener(std::move(options)) {
        listener.set_site(small_site());
    }
    HttpClient client() const { return HttpClient(listener.address().port); }

    Listener listener;
};

TEST(Visitors, AreAnsweredByRoutesOverAConnectionThatStays) {
    Served server;
    auto client = server.client();
    auto answer = client.ask("GET /");
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "let in");
    EXPECT_TRUE(answer.says("Content-Type: text/plain"));
    EXPECT_TRUE(answer.says("Connection: keep-alive"));
    answer = client.ask("GET /cameras/do%6fr?x=1");
    EXPECT_EQ(answer.body, "camera door");
    answer = client.ask("HEAD /cameras/door");
    EXPECT_EQ(answer.status, 200);
    EXPECT_TRUE(answer.says("Content-Length: 11"));
    answer = client.ask("PUT /cameras/door", "Content-Type: application/json\r\nContent-Length: 2\r\n", "{}");
    EXPECT_EQ(answer.body, "door gets {}");
    answer = client.ask("GET /", "Connection: close\r\n");
    EXPECT_TRUE(answer.says("Connection: close"));
    EXPECT_TRUE(client.closed());
}

TEST(Visitors, AreAnsweredInTurnWhereTheyAskAllAtOnce) {
    Served server;
    auto client = server.client();
    std::string all;
    for (int i = 0; i < 20; ++i) all += "GET /cameras/" + std::to_string(i) + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
    client.say(all);
    for (int i = 0; i < 20; ++i) EXPECT_EQ(client.answer().body, "camera " + std::to_string(i));
}

}  // namespace visitors_test
}  // namespace framewire::net
