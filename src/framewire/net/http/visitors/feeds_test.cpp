#include "framewire/net/client.hpp"
#include "framewire/net/http/feed.hpp"
#include "framewire/net/listener.hpp"
#include "framewire/net/testing/test_http.hpp"
#include "framewire/net/testing/test_server.hpp"
#include "framewire/net/testing/test_site.hpp"
#include "framewire/net/testing/test_stream.hpp"
#include "framewire/net/testing/test_websocket.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace framewire::net {
namespace feeds_test {

using namespace std::chrono_literals;
using http::Access;
using http::Method;
using http::Request;
using http::Response;
using testing::eventually;
using testing::HttpClient;
using testing::on_any_port;
using testing::Served;
using testing::upgrade_fields;

struct FedSite {
    explicit FedSite(Served& served, http::FeedOptions options = {})
        : feed(std::make_shared<http::Feed>(options)), server(served) {
        feed->on_wanted([this](bool wanted) { wanted_changes += wanted ? 1 : 10; });
        auto site = std::make_shared<http::Site>();
        for (const bool websocket : {false, true})
            site->add({Method::get, "/feed", Access::viewers,
                       [this](const Request&) {
                           Response response;
                           response.content_type = "text/event-stream";
                           response.feed = feed;
                           return response;
                       },
                       websocket});
        server.listener.set_site(site);
    }
    ~FedSite() { server.listener.set_site(nullptr); }
    void publish(const std::string& text) { feed->publish(std::make_shared<const std::string>(text)); }
    void wait_for(int clients) {
        EXPECT_TRUE(eventually([&] { return feed->clients() == clients; }));
    }

    std::atomic<int> wanted_changes = 0;
    std::shared_ptr<http::Feed> feed;
    Served& server;
};

TEST(Feeds, SendEveryPartToAllClients) {
    Served server;
    FedSite fed(server);
    fed.feed->set_first(std::make_shared<const std::string>("first"));
    auto client = server.client(), old = server.client();
    auto answer = client.ask("GET /feed");
    EXPECT_TRUE(answer.says("Transfer-Encoding: chunked"));
    EXPECT_TRUE(answer.says("Content-Type: text/event-stream"));
    EXPECT_TRUE(client.hear_until("5\r\nfirst\r\n"));
    old.say("GET /feed HTTP/1.0\r\nHost: localhost\r\n\r\n");
    answer = old.answer();
    EXPECT_FALSE(answer.says("Transfer-Encoding: chunked"));
    fed.wait_for(2);
    EXPECT_EQ(fed.wanted_changes, 1);
    fed.publish("more of it");
    EXPECT_TRUE(client.hear_until("a\r\nmore of it\r\n"));
    EXPECT_TRUE(old.hear_until("firstmore of it"));
    { auto gone = std::move(old); }
    fed.wait_for(1);
    fed.publish("last");
    fed.feed->end();
    EXPECT_TRUE(client.hear_until("4\r\nlast\r\n0\r\n\r\n"));
    EXPECT_TRUE(client.closed());
    fed.wait_for(0);
    EXPECT_EQ(server.client().ask("HEAD /feed").status, 200);
}

TEST(Feeds, SendSlowClientsTheNewestPart) {
    Served server;
    FedSite fed(server, {.newest_only = true});
    HttpClient slow(testing::RawConnection::connect(server.listener.address().port, 4096));
    slow.say("GET /feed HTTP/1.1\r\nHost: localhost\r\n\r\n");
    fed.wait_for(1);
    for (int i = 0; i < 200; ++i) fed.publish(std::string(200'000, 'x') + "<" + std::to_string(i) + ">");
    EXPECT_TRUE(slow.hear_until("<199>"));
    EXPECT_LT(slow.heard().size(), std::size_t{100} * 200'000);
    EXPECT_EQ(fed.feed->clients(), 1);
}

TEST(Feeds, DisconnectStuckClients) {
    Served server;
    FedSite lines(server, {.queued_limit_bytes = 1 << 20});
    HttpClient slow(testing::RawConnection::connect(server.listener.address().port, 4096)), good = server.client();
    for (auto* client : {&slow, &good}) client->say("GET /feed HTTP/1.1\r\nHost: localhost\r\n\r\n");
    lines.wait_for(2);
    for (int i = 0; i < 100 && lines.feed->clients() == 2; ++i) {
        lines.publish(std::string(300'000, 'x') + "<" + std::to_string(i) + ">");
        EXPECT_TRUE(good.hear_until("<" + std::to_string(i) + ">"));
    }
    lines.wait_for(1);
    lines.publish("<still here>");
    EXPECT_TRUE(good.hear_until("<still here>"));
}

TEST(Feeds, DisconnectStuckClientsWithoutNewParts) {
    auto options = on_any_port();
    options.write_deadline = 300ms;
    options.keep_alive = 100ms;
    Served server(options);
    FedSite pictures(server, {.newest_only = true});
    HttpClient stuck(testing::RawConnection::connect(server.listener.address().port, 4096));
    stuck.say("GET /feed HTTP/1.1\r\nHost: localhost\r\n\r\n");
    pictures.wait_for(1);
    pictures.publish(std::string(64'000'000, 'y'));  // more than the kernel buffers
    pictures.wait_for(0);
}

TEST(Feeds, GoToWebSocketsWithTheToken) {
    auto options = on_any_port();
    options.token = "correct-horse-battery";
    options.write_deadline = 500ms;  // for a client that was sent the end and does not close
    options.keep_alive = 100ms;
    Served server(options);
    FedSite fed(server);
    // The mask is zero, so the payload stays readable.
    const auto text = [](const std::string& words) {
        return std::string("\x81", 1) + static_cast<char>(0x80 | words.size()) + std::string(4, '\0') + words;
    };
    auto proven = server.client();
    EXPECT_EQ(proven.ask("GET /feed", upgrade_fields + "Authorization: Bearer correct-horse-battery\r\n").status, 101);
    auto telling = server.client();
    EXPECT_EQ(telling.ask("GET /feed", upgrade_fields).status, 101);
    telling.say(text(R"({"token": "correct-horse-battery"})"));
    fed.wait_for(2);
    fed.publish("a line");
    for (auto* client : {&proven, &telling})
        EXPECT_TRUE(
            client->hear_until("\x81\x06"
                               "a line"));
    telling.say(text("more words"));  // discarded
    for (const auto* words : {R"({"token":"wrong-horse-battery"})", R"({"token":""})", "{}", "words"}) {
        auto stranger = server.client();
        EXPECT_EQ(stranger.ask("GET /feed", upgrade_fields).status, 101);
        stranger.say(text(words));
        EXPECT_TRUE(stranger.closed()) << words;
    }
    EXPECT_EQ(fed.feed->clients(), 2);
    EXPECT_EQ(server.client().ask("GET /feed", upgrade_fields + "Origin: http://evil.example\r\n").status, 403);
    EXPECT_EQ(server.client().ask("GET /other", upgrade_fields).status, 404);
    fed.publish("another");
    EXPECT_TRUE(telling.hear_until("another"));
    fed.feed->end();
    EXPECT_TRUE(proven.closed());
    EXPECT_TRUE(telling.closed());
}

}  // namespace feeds_test
}  // namespace framewire::net
