#include "framewire/net/http/visitors/visitors.hpp"

#include "framewire/net/client.hpp"
#include "framewire/net/listener.hpp"
#include "framewire/net/testing/test_http.hpp"
#include "framewire/net/testing/test_server.hpp"
#include "framewire/net/testing/test_site.hpp"
#include "framewire/net/testing/test_stream.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <vector>

namespace framewire::net {
namespace visitors_test {

using namespace std::chrono_literals;
using http::Access;
using http::Method;
using http::Request;
using testing::eventually;
using testing::HttpClient;
using testing::on_any_port;
using testing::said;
using testing::Served;
using testing::TestStream;

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

TEST(Visitors, HaveDeadlines) {
    auto options = on_any_port();
    options.request_deadline = 300ms;
    options.idle_deadline = 600ms;
    options.keep_alive = 100ms;
    Served server(options);
    auto slow = server.client(), silent = server.client(), idle = server.client();
    slow.say("GET / HTTP/1.1\r\nHost: local");
    EXPECT_EQ(idle.ask("GET /").status, 200);
    auto slow_body = server.client();
    slow_body.say(
        "PUT /cameras/a HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{");
    EXPECT_EQ(slow.answer().status, 408);
    EXPECT_EQ(slow_body.answer().status, 408);
    EXPECT_TRUE(slow.closed());
    EXPECT_TRUE(idle.closed());
}

TEST(Visitors, WhoWaitGiveTheirPlacesToNewerOnes) {
    auto options = on_any_port();
    options.greeting_limit = 4;
    Served server(options);
    auto oldest = server.client();
    oldest.say("GET / HT");
    std::vector<HttpClient> others;
    for (int i = 0; i < 4; ++i) {
        others.push_back(server.client());
        others.back().say("GET / HT");
    }
    EXPECT_TRUE(oldest.closed());
    EXPECT_EQ(server.client().ask("GET /").status, 200);
    TestStream stream;
    const auto served = server.listener.add("main", stream.state);
    EXPECT_EQ(Client(served.address()).info().source, "a test");
}

TEST(Visitors, AreTurnedAwayWhereTooManyAreSeenTo) {
    auto options = on_any_port();
    options.requests_limit = 2;
    Served server(options);
    std::promise<void> go;
    const auto gone = go.get_future().share();
    std::atomic<int> inside = 0;
    auto site = std::make_shared<http::Site>();
    site->add({Method::get, "/", Access::everybody, [&](const Request&) {
                   ++inside;
                   gone.wait();
                   return said("done");
               }});
    server.listener.set_site(site);
    auto first = server.client(), second = server.client();
    for (auto* client : {&first, &second}) client->say("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_TRUE(eventually([&] { return inside == 2; }));
    EXPECT_EQ(server.client().ask("GET /").status, 503);
    // A site goes when its handlers are done, and no sooner.
    auto leaving = std::async(std::launch::async, [&] { server.listener.set_site(nullptr); });
    EXPECT_EQ(leaving.wait_for(50ms), std::future_status::timeout);
    go.set_value();
    leaving.get();
    EXPECT_EQ(first.answer().body, "done");
    EXPECT_EQ(second.answer().body, "done");
    EXPECT_EQ(server.client().ask("GET /").status, 503);
}

}  // namespace visitors_test
}  // namespace framewire::net
