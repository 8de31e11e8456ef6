#include "framewire/net/http/visitors/visitors.hpp"

#include "framewire/net/client.hpp"
#include "framewire/net/http/feed.hpp"
#include "framewire/net/listener.hpp"
#include "framewire/net/testing/test_http.hpp"
#include "framewire/net/testing/test_server.hpp"
#include "framewire/net/testing/test_site.hpp"
#include "framewire/net/testing/test_stream.hpp"
#include "framewire/net/testing/test_websocket.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <semaphore>
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

TEST(Visitors, CanReuseTheirConnection) {
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

TEST(Visitors, ReceivePipelinedResponsesInOrder) {
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

TEST(Visitors, GiveWaitingPlacesToNewerConnections) {
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

TEST(Visitors, AreRefusedIfTooManyRequestsAreInProgress) {
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
    site->add({.pattern = "/alive",
               .access = Access::everybody,
               .handler = [](const Request&) { return said("yes"); },
               .at_once = true});
    server.listener.set_site(site);
    auto first = server.client(), second = server.client();
    for (auto* client : {&first, &second}) client->say("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_TRUE(eventually([&] { return inside == 2; }));
    EXPECT_EQ(server.client().ask("GET /").status, 503);
    EXPECT_EQ(server.client().ask("GET /alive").status, 200) << "the server runs, and says so";
    // A site is released after its handlers have ended, and not before.
    auto leaving = std::async(std::launch::async, [&] { server.listener.set_site(nullptr); });
    EXPECT_EQ(leaving.wait_for(50ms), std::future_status::timeout);
    go.set_value();
    leaving.get();
    EXPECT_EQ(first.answer().body, "done");
    EXPECT_EQ(second.answer().body, "done");
    EXPECT_EQ(server.client().ask("GET /").status, 503);
}

// Connects from the loopback address that ends in `from`.
HttpClient client_from(const Served& server, std::uint8_t from, int receive_buffer_bytes = 0) {
    return HttpClient(testing::RawConnection::connect(server.listener.address().port, receive_buffer_bytes, from));
}

// A peer without a token opens WebSockets without sending the first message, and requests that it never reads.
TEST(Visitors, ThatAreSlowDoNotExcludeOthers) {
    auto options = on_any_port();
    options.token = "correct-horse-battery";
    options.requests_limit = 8;
    options.request_deadline = options.write_deadline = 1h;
    Served server(options);
    const auto feed = std::make_shared<http::Feed>(http::FeedOptions{});
    const auto answer_of_feed = [feed](const Request&) {
        http::Response response;
        response.feed = feed;
        return response;
    };
    auto site = std::make_shared<http::Site>();
    const std::string large(16'000'000, 'x');
    site->add({Method::get, "/", Access::everybody, [](const Request&) { return said("here"); }});
    site->add({Method::get, "/large", Access::everybody, [&](const Request&) { return said(large); }});
    site->add({Method::get, "/feed", Access::viewers, answer_of_feed, true});
    server.listener.set_site(site);
    TestStream stream;
    const auto served = server.listener.add("main", stream.state);
    std::vector<HttpClient> slow;
    for (int i = 0; i < 12; ++i) {
        slow.push_back(client_from(server, 2));
        EXPECT_EQ(slow.back().ask("GET /feed", testing::upgrade_fields).status, 101);
    }
    for (const std::uint8_t from : std::initializer_list<std::uint8_t>{1, 2})
        EXPECT_EQ(client_from(server, from).ask("GET /").body, "here") << from;
    for (int i = 0; i < 12; ++i) {
        slow.push_back(client_from(server, 3, 4096));
        slow.back().say("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n");
        EXPECT_TRUE(slow.back().hear_until("\r\n\r\n"));
    }
    for (const std::uint8_t from : std::initializer_list<std::uint8_t>{1, 3})
        EXPECT_EQ(client_from(server, from).ask("GET /").body, "here") << from;
    EXPECT_EQ(Client(served.address(), {.token = options.token}).info().source, "a test");
    auto viewer = client_from(server, 1);
    EXPECT_EQ(viewer.ask("GET /main/stream", testing::upgrade_fields + "Sec-WebSocket-Protocol: framewire\r\n").status,
              101);
    server.listener.set_site(nullptr);
}

TEST(Visitors, OfOnePeerLeaveFeedsForOthers) {
    auto options = on_any_port();
    options.requests_limit = 8;  // allows six feeds
    Served server(options);
    const auto feed = std::make_shared<http::Feed>(http::FeedOptions{});
    auto site = std::make_shared<http::Site>();
    site->add({Method::get, "/", Access::everybody, [](const Request&) { return said("here"); }});
    site->add({Method::get, "/feed", Access::viewers, [feed](const Request&) {
                   http::Response response;
                   response.feed = feed;
                   return response;
               }});
    server.listener.set_site(site);
    std::vector<HttpClient> many, few;
    const auto ask = [&](std::vector<HttpClient>& clients, std::uint8_t from) {
        clients.push_back(client_from(server, from));
        clients.back().say("GET /feed HTTP/1.1\r\nHost: localhost\r\n\r\n");
        return clients.back().answer().status;
    };
    feed->set_first(std::make_shared<const std::string>("first"));
    for (int i = 0; i < 6; ++i) EXPECT_EQ(ask(many, 2), 200);
    EXPECT_EQ(ask(many, 2), 503) << "nobody gives up one for a peer that has most";
    EXPECT_EQ(client_from(server, 2).ask("GET /").body, "here") << "feeds leave room for requests";
    for (int i = 0; i < 3; ++i) EXPECT_EQ(ask(few, 1), 200);
    EXPECT_EQ(ask(few, 1), 503) << "three and three";
    EXPECT_EQ(feed->clients(), 6);
    server.listener.set_site(nullptr);
}

TEST(Visitors, TakeTurnsAtHandlers) {
    auto options = on_any_port();
    options.requests_limit = 12;  // allows nine of one peer
    Served server(options);
    std::counting_semaphore<> go(0);
    std::mutex mutex;
    std::vector<std::string> begun;
    auto site = std::make_shared<http::Site>();
    site->add({Method::get, "/{who}", Access::everybody, [&](const Request& request) {
                   {
                       const std::lock_guard lock(mutex);
                       begun.push_back(request.parameters.at("who"));
                   }
                   go.acquire();
                   return said("done");
               }});
    server.listener.set_site(site);
    const auto count = [&] {
        const std::lock_guard lock(mutex);
        return begun.size();
    };
    std::vector<HttpClient> many;
    for (int i = 0; i < 9; ++i) {
        many.push_back(client_from(server, 2));
        many.back().say("GET /many HTTP/1.1\r\nHost: localhost\r\n\r\n");
    }
    EXPECT_TRUE(eventually([&] { return count() == 4; })) << "as many as there are threads";
    // The nine are read before this one, and nine is the limit of one peer.
    EXPECT_EQ(client_from(server, 2).ask("GET /many").status, 503);
    auto one = client_from(server, 1);
    one.say("GET /one HTTP/1.1\r\nHost: localhost\r\n\r\n");
    // That request is read before this one of the same peer is refused for its path.
    EXPECT_EQ(client_from(server, 1).ask("GET /no/such").status, 404);
    go.release(2);
    EXPECT_TRUE(eventually([&] { return count() == 6; }));
    {
        const std::lock_guard lock(mutex);
        EXPECT_EQ(std::count(begun.begin(), begun.end(), "one"), 1) << "it waits for one of the others at most";
    }
    go.release(100);
    EXPECT_EQ(one.answer().body, "done");
    server.listener.set_site(nullptr);
}

TEST(Visitors, ThatDoNotCloseAreLimited) {
    auto options = on_any_port();
    options.greeting_limit = 8;  // so at most four may be closing
    options.write_deadline = 1h;
    Served server(options);
    std::vector<HttpClient> all;
    for (int i = 0; i < 6; ++i) {
        all.push_back(client_from(server, 2));
        EXPECT_EQ(all.back().ask("GET /", "Connection: close\r\n").status, 200);
    }
    const auto is_cut_off = [](HttpClient& client) { return !client.say("x") || !client.say("x"); };
    EXPECT_TRUE(eventually([&] { return is_cut_off(all[0]); }));
    EXPECT_TRUE(eventually([&] { return is_cut_off(all[1]); }));
}

TEST(Visitors, CanUseABasePath) {
    auto options = on_any_port();
    options.base_path = "/home/cams";
    Served server(options);
    auto client = server.client();
    EXPECT_EQ(client.ask("GET /home/cams/").body, "let in");
    EXPECT_EQ(client.ask("GET /home/cams/cameras/a").body, "camera a");
    EXPECT_EQ(client.ask("GET /cameras/a").body, "camera a") << "of a proxy that takes the path away, and of others";
    EXPECT_EQ(client.ask("GET /").body, "let in");
    auto answer = client.ask("GET /home/cams?a=b/c");
    EXPECT_EQ(answer.status, 308);
    EXPECT_TRUE(answer.says("Location: cams/?a=b/c"));
    EXPECT_EQ(client.ask("GET /home/camsite").status, 404);
    EXPECT_EQ(client.ask("GET /home/cams/home/cams/").status, 404);
    EXPECT_EQ(
        client.ask("PUT /home/cams/cameras/a", "Content-Type: application/json\r\nContent-Length: 2\r\n", "{}").body,
        "a gets {}");
    EXPECT_EQ(client.ask("GET /home/cams/main/stream").status, 426);
    for (const auto* bad : {"cams", "/", "/cams/", "//cams", "/a//b", "/..", "/a/./b", "/a b", "/a?b", "/a%20b"})
        testing::expect_code(ErrorCode::usage, "is no path to be served below", [&] { validate_base_path(bad); });
}

}  // namespace visitors_test
}  // namespace framewire::net
