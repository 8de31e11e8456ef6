#include "framewire/net/http_connections.hpp"
#include "framewire/net/client.hpp"
#include "framewire/net/http.hpp"
#include "framewire/net/server.hpp"
#include "framewire/net/testing/test_http.hpp"
#include "framewire/net/testing/test_server.hpp"
#include "framewire/net/testing/test_site.hpp"
#include "framewire/net/testing/test_stream.hpp"
#include "framewire/net/testing/test_websocket.hpp"
#include "kit/captured_log.hpp"

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
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace framewire::net {
namespace {

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

TEST(Feeds, SkipToTheNewestPartForSlowClients) {
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

TEST(Feeds, DisconnectStuckClientsEvenWithoutNewParts) {
    auto options = on_any_port();
    options.write_deadline = 300ms;
    options.keep_alive = 100ms;
    Served server(options);
    FedSite pictures(server, {.newest_only = true});
    HttpClient stuck(testing::RawConnection::connect(server.listener.address().port, 4096));
    stuck.say("GET /feed HTTP/1.1\r\nHost: localhost\r\n\r\n");
    pictures.wait_for(1);
    pictures.publish(std::string(64'000'000, 'y'));  // larger than the kernel's buffers
    pictures.wait_for(0);
}

// A deferred response is sent as a whole once it is there. The connection stays open, and requests that arrive while it
// waits are answered afterwards.
TEST(Feeds, DeferredResponsesWaitForTheirPart) {
    Served server;
    FedSite fed(server, {.deferred = true});
    auto client = server.client();
    const std::string request = "GET /feed HTTP/1.1\r\nHost: localhost\r\n\r\n";
    client.say(request);
    fed.wait_for(1);
    client.say(request);
    std::this_thread::sleep_for(50ms);  // the server reads the second request while the first one waits
    fed.feed->end_with(std::make_shared<const std::string>("whole"));
    for (int i = 0; i < 2; ++i) {
        const auto answer = client.answer();
        EXPECT_EQ(answer.status, 200);
        EXPECT_TRUE(answer.says("Content-Length: 5"));
        EXPECT_TRUE(answer.says("Connection: keep-alive"));
        EXPECT_EQ(answer.body, "whole");
    }
    EXPECT_EQ(client.ask("GET /feed").body, "whole");
    fed.wait_for(0);
}

TEST(Feeds, DeferredResponsesWithoutAPartAreNotFound) {
    Served server;
    FedSite fed(server, {.deferred = true});
    auto client = server.client(), gone = server.client();
    for (auto* one : {&client, &gone}) one->say("GET /feed HTTP/1.1\r\nHost: localhost\r\n\r\n");
    fed.wait_for(2);
    { auto left = std::move(gone); }
    fed.wait_for(1);
    fed.feed->end();
    EXPECT_EQ(client.answer().status, 404);
    EXPECT_EQ(client.ask("GET /feed").status, 404);
}

TEST(Feeds, RequireTheTokenOnWebSockets) {
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
    telling.say(text("more words"));  // the server discards it
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

using http::Access;
using http::Method;
using http::Request;
using testing::on_any_port;
using testing::said;
using testing::Served;
using testing::TestStream;

const std::string json_type = "Content-Type: application/json\r\n";

TEST(HttpConnections, RejectInvalidRequests) {
    Served server;
    const auto status = [&](const std::string& text) {
        auto client = server.client();
        client.say(text);
        return client.answer().status;
    };
    const std::string get = "GET / HTTP/1.1\r\nHost: localhost\r\n",
                      put = "PUT /cameras/a HTTP/1.1\r\nHost: localhost\r\n";
    EXPECT_EQ(status(get + "\r\n"), 200);
    EXPECT_EQ(status("GET /none HTTP/1.1\r\nHost: localhost\r\n\r\n"), 404);
    EXPECT_EQ(status("GET /cameras/..%2f HTTP/1.1\r\nHost: localhost\r\n\r\n"), 400);
    EXPECT_EQ(status("GET /cameras/../ HTTP/1.1\r\nHost: localhost\r\n\r\n"), 400);
    EXPECT_EQ(status("GET http://localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n"), 400);
    EXPECT_EQ(status("GET / HTTP/2.0\r\nHost: localhost\r\n\r\n"), 400);
    EXPECT_EQ(status("GET  / HTTP/1.1\r\nHost: localhost\r\n\r\n"), 400);
    EXPECT_EQ(status("G\x01T / HTTP/1.1\r\nHost: localhost\r\n\r\n"), 400);
    EXPECT_EQ(status(get + "Field : x\r\n\r\n"), 400);
    EXPECT_EQ(status(get + "Field: a\rb\r\n\r\n"), 400);
    // A proxy between server and client must not be able to split the bytes into other requests.
    EXPECT_EQ(status(put + json_type + "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}"), 400);
    EXPECT_EQ(status(put + json_type + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}"), 400);
    EXPECT_EQ(status(put + json_type + "Content-Length: 2, 2\r\n\r\n{}"), 400);
    EXPECT_EQ(status(put + json_type + "Content-Length: +2\r\n\r\n{}"), 400);
    EXPECT_EQ(status(put + json_type + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"), 400);
    EXPECT_EQ(status(put + json_type + "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n{}"), 400);
    EXPECT_EQ(status(put + json_type + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}"), 400);
    EXPECT_EQ(status(put + json_type + "Transfer-Encoding: identity\r\nContent-Length: 2\r\n\r\n{}"), 400);
    // Bodies that are too long.
    EXPECT_EQ(status(put + json_type + "Content-Length: 65537\r\n\r\n"), 413);
    EXPECT_EQ(status(put + json_type + "Content-Length: 99999999999999999999\r\n\r\n"), 400);
    EXPECT_EQ(status(put + json_type + "Content-Length: 65536\r\n\r\n" + std::string(65536, ' ')), 200);
    EXPECT_EQ(status(get + "Field: " + std::string(20'000, 'x') + "\r\n\r\n"), 431);
    EXPECT_EQ(status("GET /" + std::string(20'000, 'x')), 431);
    EXPECT_EQ(status("GET /" + std::string(3'000, 'x') + " HTTP/1.1\r\nHost: localhost\r\n\r\n"), 400);
}

TEST(HttpConnections, ListTheAllowedMethodsInA405) {
    Served server;
    auto client = server.client();
    const auto answer = client.ask("DELETE /cameras/door");
    EXPECT_EQ(answer.status, 405);
    EXPECT_TRUE(answer.says("Allow: GET, HEAD, PUT"));
    EXPECT_EQ(answer.body, R"({"error":{"status":405,"text":"DELETE is not allowed here"}})");
    EXPECT_EQ(client.ask("POST /", "Content-Length: 0\r\n").status, 405);
    EXPECT_EQ(client.ask("OPTIONS /none").status, 404);
}

TEST(HttpConnections, MapHandlerErrorsToStatusCodes) {
    Served server;
    auto client = server.client();
    EXPECT_EQ(client.ask("GET /broken/usage").body, R"({"error":{"status":400,"text":"a \"bad\" value"}})");
    EXPECT_EQ(client.ask("GET /broken/no_input").status, 404);
    EXPECT_EQ(client.ask("GET /broken/config").status, 409);
    EXPECT_EQ(client.ask("GET /broken/else").status, 500);
}

TEST(HttpConnections, RejectUnknownHosts) {
    auto options = on_any_port();
    options.allowed_hosts = {"Camera.Example"};
    Served server(options);
    const auto status = [&](const std::string& fields) {
        auto client = server.client();
        client.say("GET / HTTP/1.1\r\n" + fields + "\r\n");
        return client.answer().status;
    };
    for (const std::string host : {"127.0.0.1", "127.0.0.1:7878", "[::1]", "[::1]:80", "localhost:1", "LOCALHOST",
                                   "camera.example", "camera.example:7878", "192.0.2.7"})
        EXPECT_EQ(status("Host: " + host + "\r\n"), 200) << host;
    for (const std::string host :
         {"evil.example", "evil.example:7878", "localhost.evil.example", "camera.example.evil.example"})
        EXPECT_EQ(status("Host: " + host + "\r\n"), 421) << host;
    EXPECT_EQ(status(""), 400);
    EXPECT_EQ(status("Host: \r\n"), 400);
    EXPECT_EQ(status("Host: localhost\r\nHost: localhost\r\n"), 400);
    EXPECT_EQ(status("Host: user@localhost\r\n"), 421);
}

TEST(HttpConnections, RejectCrossOriginWrites) {
    Served server;
    const auto status = [&](const std::string& fields) {
        return server.client().ask("PUT /cameras/a", "Content-Length: 2\r\n" + fields, "{}").status;
    };
    const std::string json = json_type;
    EXPECT_EQ(status(json), 200);
    EXPECT_EQ(status("Content-Type: Application/JSON; charset=utf-8\r\n"), 200);
    EXPECT_EQ(status(json + "Origin: http://localhost\r\n"), 200);
    EXPECT_EQ(status(json + "Origin: https://localhost\r\n"), 200);  // through a proxy that terminates TLS
    EXPECT_EQ(status(json + "Sec-Fetch-Site: same-origin\r\n"), 200);
    EXPECT_EQ(status(json + "Origin: http://evil.example\r\n"), 403);
    EXPECT_EQ(status(json + "Origin: http://localhost:8080\r\n"), 403);
    EXPECT_EQ(status(json + "Origin: null\r\n"), 403);
    EXPECT_EQ(status(json + "Sec-Fetch-Site: cross-site\r\n"), 403);
    EXPECT_EQ(status(""), 415);
    EXPECT_EQ(status("Content-Type: text/plain\r\n"), 415);
    EXPECT_EQ(status("Content-Type: application/x-www-form-urlencoded\r\n"), 415);
    EXPECT_EQ(status("Content-Type: application/jsonp\r\n"), 415);
}

TEST(HttpConnections, RequireTheTokenIfOneIsSet) {
    auto options = on_any_port();
    options.token = "correct-horse-battery";
    Served server(options);
    const auto ask = [&](const std::string& fields, const std::string& line = "GET /cameras/a") {
        return server.client().ask(line, fields);
    };
    const std::string right = "Authorization: Bearer correct-horse-battery\r\n";
    auto answer = ask("");
    EXPECT_EQ(answer.status, 401);
    EXPECT_TRUE(answer.says("WWW-Authenticate: Basic realm=\"framewire\""));
    answer = ask("Sec-Fetch-Dest: empty\r\n");
    EXPECT_TRUE(answer.says("WWW-Authenticate: Bearer realm=\"framewire\""));
    EXPECT_FALSE(answer.says("WWW-Authenticate: Basic realm=\"framewire\""));
    EXPECT_EQ(ask(right).body, "camera a");
    EXPECT_EQ(ask("Authorization: bearer  correct-horse-battery\r\n").status, 200);
    EXPECT_EQ(ask("Authorization: Basic YW55OmNvcnJlY3QtaG9yc2UtYmF0dGVyeQ==\r\n").status, 200);
    EXPECT_EQ(ask("", "PUT /cameras/a").status, 401);
    EXPECT_EQ(ask("", "GET /").body, "who are you?");
    EXPECT_EQ(ask(right, "GET /").body, "let in");
    for (const std::string none : {"", "Bearer", "Basic", "Basic !!!!", "Basic YWJj", "Digest x"})
        EXPECT_EQ(ask("Authorization: " + none + "\r\n").status, 401) << none;
    EXPECT_EQ(ask(right + right).status, 401);
    // Guesses must also be limited on paths that need no token.
    const auto guess = [&](int number, std::uint8_t from) {
        testing::HttpClient client(testing::RawConnection::connect(server.listener.address().port, 0, from));
        const auto token = number < 0 ? "correct-horse-battery" : "guess" + std::to_string(number);
        return client.ask("GET /", "Authorization: Bearer " + token + "\r\n").status;
    };
    for (int i = 0; i < 5; ++i) EXPECT_EQ(guess(i, 2), 401);
    EXPECT_EQ(guess(5, 2), 429);
    EXPECT_EQ(guess(-1, 2), 429);
    EXPECT_EQ(guess(-1, 1), 200) << "another address";
    // An address that sent the right token before is not locked out by its neighbours' guesses.
    for (int i = 0; i < 5; ++i) guess(i, 1);
    EXPECT_EQ(guess(5, 1), 429);
    EXPECT_EQ(guess(-1, 1), 200);
    TestStream stream;
    const auto served = server.listener.add("main", stream.state);
    EXPECT_NO_THROW(Client(served.address(), {.token = options.token}));
}

// A page that stays open while the server's token changes repeats the old token.
TEST(HttpConnections, AreNotLockedOutByAnOutdatedToken) {
    auto options = on_any_port();
    options.token = "correct-horse-battery";
    Served server(options);
    auto client = server.client();
    for (int i = 0; i < 50; ++i) EXPECT_EQ(client.ask("GET /", "Authorization: Bearer of yesterday\r\n").status, 401);
    for (int i = 0; i < 50; ++i)
        EXPECT_EQ(client.ask("GET /cameras/a").status, 401) << "a missing token must not count as a guess";
    EXPECT_EQ(client.ask("GET /", "Authorization: Bearer correct-horse-battery\r\n").status, 200);
}

TEST(HttpConnections, DistinguishClientsBehindATrustedProxy) {
    auto options = on_any_port();
    options.token = "correct-horse-battery";
    options.trusted_proxies = {"127.0.0.1"};
    Served server(options);
    const auto ask = [&](const std::string& token, const std::string& forwarded_for, std::uint8_t from = 1) {
        testing::HttpClient client(testing::RawConnection::connect(server.listener.address().port, 0, from));
        return client.ask("GET /", "Authorization: Bearer " + token + "\r\nX-Forwarded-For: " + forwarded_for + "\r\n")
            .status;
    };
    const std::string right = options.token, guesser = "203.0.113.9", other = "198.51.100.7";
    for (int i = 0; i < 5; ++i)
        EXPECT_EQ(ask("guess" + std::to_string(i), "10.9.8." + std::to_string(i) + ", " + guesser), 401)
            << "forged entries must not change the client's address";
    EXPECT_EQ(ask(right, guesser), 429);
    EXPECT_EQ(ask(right, other), 200);
    EXPECT_EQ(ask(right, "[2001:db8::1]:4711"), 200);
    EXPECT_EQ(ask(right, "nonsense"), 200) << "the request must count as the proxy's own";
    // The header is ignored if it comes from another address.
    for (int i = 0; i < 5; ++i) EXPECT_EQ(ask("guess" + std::to_string(i), "10.9.8." + std::to_string(i), 2), 401);
    EXPECT_EQ(ask(right, other, 2), 429);
    EXPECT_EQ(ask(right, other), 200);
    // WebSockets also count as connections of the proxy's client, with the stream protocol and without.
    const auto reported = server.client().ask(
        "GET /main/stream",
        testing::upgrade_fields + "Sec-WebSocket-Protocol: framewire\r\nX-Forwarded-For: " + guesser + "\r\n");
    EXPECT_EQ(reported.status, 429) << "the client must be locked out";
}

TEST(HttpConnections, LogAdviceForAnUntrustedProxy) {
    const kit::CapturedLog log;
    auto options = on_any_port();
    options.token = "correct-horse-battery";
    Served server(options);
    for (int i = 0; i < 6; ++i)
        server.client().ask("GET /",
                            "X-Forwarded-For: 203.0.113.9\r\nAuthorization: Bearer guess" + std::to_string(i) + "\r\n");
    EXPECT_NE(log.text().find("serve with --trusted-proxy ADDRESS"), std::string::npos) << log.text();
}

// Load balancers send such requests to check a server's health.
TEST(HttpConnections, DoNotRequireAHostInHttp10) {
    Served server;
    const auto status = [&](const std::string& request) {
        auto client = server.client();
        client.say(request + "\r\n");
        return client.answer().status;
    };
    EXPECT_EQ(status("GET / HTTP/1.0\r\n"), 200);
    EXPECT_EQ(status("GET / HTTP/1.0\r\nHost: localhost\r\n"), 200);
    EXPECT_EQ(status("GET / HTTP/1.0\r\nHost: evil.example\r\n"), 421);
    EXPECT_EQ(status("GET / HTTP/1.0\r\nHost: localhost\r\nHost: localhost\r\n"), 400);
    EXPECT_EQ(status("GET / HTTP/1.1\r\n"), 400);
    EXPECT_EQ(status("PUT /cameras/a HTTP/1.0\r\nOrigin: http://evil.example\r\nContent-Length: 0\r\n"), 403);
}

TEST(HttpConnections, DoNotRevealServerPathsInErrors) {
    const kit::CapturedLog log;
    Served server;
    auto site = std::make_shared<http::Site>();
    site->add({Method::get, "/{how}", Access::everybody, [](const Request& request) -> http::Response {
                   const auto& how = request.parameters.at("how");
                   if (how == "io") fail(ErrorCode::io, "cannot write /srv/kept/a.fwd: No space left on device");
                   if (how == "config") fail(ErrorCode::config, "there is no folder '/srv/my films' for that");
                   throw std::runtime_error("filesystem error: secret stuff [/srv/kept]");
               }});
    server.listener.set_site(site);
    auto client = server.client();
    EXPECT_EQ(client.ask("GET /io").body,
              R"({"error":{"status":500,"text":"cannot write a.fwd: No space left on device"}})");
    EXPECT_EQ(client.ask("GET /config").body,
              R"({"error":{"status":409,"text":"there is no folder 'my films' for that"}})");
    EXPECT_EQ(client.ask("GET /else").body,
              R"({"error":{"status":500,"text":"the request failed; see the server's log"}})");
    server.listener.set_site(nullptr);
    for (const auto* whole : {"/srv/kept/a.fwd", "/srv/my films", "secret stuff [/srv/kept]"})
        EXPECT_NE(log.text().find(whole), std::string::npos) << whole << log.text();
}

TEST(HttpConnections, SendSecurityHeaders) {
    Served server;
    auto client = server.client();
    for (const auto* path : {"GET /", "GET /none", "PUT /"}) {
        const auto answer = client.ask(path);
        for (const auto* line :
             {"X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer", "Cache-Control: no-store"})
            EXPECT_TRUE(answer.says(line)) << path << line;
        EXPECT_NE(answer.head.find("\r\nContent-Security-Policy: default-src 'none'; script-src 'self'"),
                  std::string::npos);
        EXPECT_EQ(answer.head.find("unsafe-inline"), std::string::npos);
        EXPECT_NE(answer.head.find("; frame-ancestors 'none';"), std::string::npos);
        EXPECT_TRUE(answer.says("X-Frame-Options: DENY"));
    }
    auto site = std::make_shared<http::Site>();
    site->add({Method::get, "/", Access::everybody, [](const Request& request) {
                   auto response = said("x");
                   response.headers = {{"cache-control", "no-cache"}, {"ETag", "\"1\""}};
                   if (request.if_none_match == "\"1\"") response.status = 304;
                   return response;
               }});
    site->add({Method::get, "/split", Access::everybody, [](const Request&) {
                   auto response = said("x");
                   response.headers = {{"X", "a\r\nSet-Cookie: b"}};
                   return response;
               }});
    server.listener.set_site(site);
    auto answer = client.ask("GET /");
    EXPECT_TRUE(answer.says("cache-control: no-cache"));
    EXPECT_FALSE(answer.says("Cache-Control: no-store"));
    answer = client.ask("GET /", "If-None-Match: \"1\"\r\n");
    EXPECT_EQ(answer.status, 304);
    EXPECT_EQ(answer.body, "");
    EXPECT_EQ(client.ask("GET /").body, "x");
    EXPECT_EQ(client.ask("GET /split").status, 0);
}

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

// X-Frame-Options cannot name sites, so it is absent if the policy does.
TEST(HttpConnections, LetOnlyTheGivenSitesFrameTheirPages) {
    for (const auto& [sites, policy, options] :
         std::vector<std::tuple<std::vector<std::string>, std::string, std::string>>{
             {{"self"}, "; frame-ancestors 'self'; ", "SAMEORIGIN"},
             {{"http://a.lan:8123", "https://*.b.org", "self"},
              "; frame-ancestors http://a.lan:8123 https://*.b.org 'self'; ",
              ""}}) {
        auto listening = on_any_port();
        listening.frame_ancestors = sites;
        const Served server(listening);
        auto client = server.client();
        const auto answer = client.ask("GET /");
        EXPECT_NE(answer.head.find(policy), std::string::npos) << answer.head;
        EXPECT_EQ(answer.head.find("X-Frame-Options") == std::string::npos, options.empty()) << answer.head;
        EXPECT_EQ(answer.says("X-Frame-Options: " + options), !options.empty()) << answer.head;
    }
}

// Nothing that could end the directive or the field, or that browsers would ignore, is accepted.
TEST(FrameAncestors, AreOrigins) {
    for (const auto* site : {"self", "http://a", "https://a.b.example:65535", "http://10.0.0.7:8123", "https://*.b.org",
                             "http://a_b-c.lan"})
        EXPECT_NO_THROW(validate_frame_ancestor(site)) << site;
    const std::string line_break = "http://a\r\nSet-Cookie: b", zero("http://a\0b", 10);
    for (const auto& site : std::vector<std::string>{"",
                                                     "*",
                                                     "none",
                                                     "'none'",
                                                     "'self'",
                                                     "a.example",
                                                     "*.a.example",
                                                     "ftp://a",
                                                     "http://",
                                                     "http://*",
                                                     "http://*.",
                                                     "http://a*",
                                                     "http://a.*",
                                                     "http://*.*.a",
                                                     "http://.a",
                                                     "http://a.",
                                                     "http://a..b",
                                                     "http://a/",
                                                     "http://*.a/b",
                                                     "http://a;script-src *",
                                                     "http://a b",
                                                     "http://a,http://b",
                                                     "http://a'",
                                                     "http://a:",
                                                     "http://a:0",
                                                     "http://a:65536",
                                                     "http://a:*",
                                                     "http://a:1:2",
                                                     "http://[::1]:8123",
                                                     "http://u@a",
                                                     "http://\u00e4",
                                                     "HTTP://a",
                                                     "http://https://a",
                                                     "http://" + std::string(254, 'a'),
                                                     line_break,
                                                     zero})
        testing::expect_code(ErrorCode::usage, "allowed: self, or http://", [&] { validate_frame_ancestor(site); });
    auto many = on_any_port();
    many.frame_ancestors.assign(51, "self");
    testing::expect_code(ErrorCode::usage, "up to 50", [&] { const Listener listener(many); });
}

TEST(HttpConnections, SupportKeepAlive) {
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

TEST(HttpConnections, AnswerPipelinedRequestsInOrder) {
    Served server;
    auto client = server.client();
    std::string all;
    for (int i = 0; i < 20; ++i) all += "GET /cameras/" + std::to_string(i) + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
    client.say(all);
    for (int i = 0; i < 20; ++i) EXPECT_EQ(client.answer().body, "camera " + std::to_string(i));
}

TEST(HttpConnections, TimeOutWhenSlowOrIdle) {
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

TEST(HttpConnections, EvictTheOldestPendingConnection) {
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

TEST(HttpConnections, RefuseRequestsAboveTheLimit) {
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
    EXPECT_EQ(server.client().ask("GET /alive").status, 200) << "the health check must not be refused";
    // A site is not released before its handlers have ended.
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

// One peer without a token opens WebSockets but never sends a first message. Another one sends requests but never reads
// the responses.
TEST(HttpConnections, SlowClientsDoNotExcludeOthers) {
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

TEST(HttpConnections, OnePeerCannotOccupyAllFeeds) {
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
    EXPECT_EQ(ask(many, 2), 503) << "a peer at the limit must not get another feed";
    EXPECT_EQ(client_from(server, 2).ask("GET /").body, "here") << "feeds must leave room for requests";
    for (int i = 0; i < 3; ++i) EXPECT_EQ(ask(few, 1), 200);
    EXPECT_EQ(ask(few, 1), 503) << "both peers have three feeds";
    EXPECT_EQ(feed->clients(), 6);
    server.listener.set_site(nullptr);
}

TEST(HttpConnections, ShareHandlersFairlyBetweenPeers) {
    auto options = on_any_port();
    options.requests_limit = 12;  // allows nine requests per peer
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
    EXPECT_TRUE(eventually([&] { return count() == 4; })) << "one request must run on each thread";
    // The server reads those nine requests first, and nine is the limit per peer.
    EXPECT_EQ(client_from(server, 2).ask("GET /many").status, 503);
    auto one = client_from(server, 1);
    one.say("GET /one HTTP/1.1\r\nHost: localhost\r\n\r\n");
    // Once the server has refused this request of the same peer for its path, it has also read the previous one.
    EXPECT_EQ(client_from(server, 1).ask("GET /no/such").status, 404);
    go.release(2);
    EXPECT_TRUE(eventually([&] { return count() == 6; }));
    {
        const std::lock_guard lock(mutex);
        EXPECT_EQ(std::count(begun.begin(), begun.end(), "one"), 1)
            << "it must wait for at most one of the other requests";
    }
    go.release(100);
    EXPECT_EQ(one.answer().body, "done");
    server.listener.set_site(nullptr);
}

TEST(HttpConnections, LimitConnectionsThatDoNotClose) {
    auto options = on_any_port();
    options.greeting_limit = 8;  // so at most four connections may be closing
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

TEST(HttpConnections, SupportABasePath) {
    auto options = on_any_port();
    options.base_path = "/home/cams";
    Served server(options);
    auto client = server.client();
    EXPECT_EQ(client.ask("GET /home/cams/").body, "let in");
    EXPECT_EQ(client.ask("GET /home/cams/cameras/a").body, "camera a");
    EXPECT_EQ(client.ask("GET /cameras/a").body, "camera a")
        << "paths without the base path must work for proxies that remove it";
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
        testing::expect_code(ErrorCode::usage, "is not a valid base path", [&] { validate_base_path(bad); });
}

}  // namespace
}  // namespace framewire::net
