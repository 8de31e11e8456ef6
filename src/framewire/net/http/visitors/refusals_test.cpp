#include "framewire/net/client.hpp"
#include "framewire/net/listener.hpp"
#include "framewire/net/testing/test_http.hpp"
#include "framewire/net/testing/test_server.hpp"
#include "framewire/net/testing/test_site.hpp"
#include "framewire/net/testing/test_stream.hpp"
#include "framewire/net/testing/test_websocket.hpp"
#include "kit/captured_log.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

namespace framewire::net {
namespace refusals_test {

using http::Access;
using http::Method;
using http::Request;
using testing::on_any_port;
using testing::said;
using testing::Served;
using testing::TestStream;

const std::string json_type = "Content-Type: application/json\r\n";

TEST(Visitors, ReceiveErrorsForInvalidRequests) {
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
    // A proxy between server and client has to see the same requests.
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

TEST(Visitors, ReceiveTheAllowedMethods) {
    Served server;
    auto client = server.client();
    const auto answer = client.ask("DELETE /cameras/door");
    EXPECT_EQ(answer.status, 405);
    EXPECT_TRUE(answer.says("Allow: GET, HEAD, PUT"));
    EXPECT_EQ(answer.body, R"({"error":{"status":405,"text":"DELETE is not allowed here"}})");
    EXPECT_EQ(client.ask("POST /", "Content-Length: 0\r\n").status, 405);
    EXPECT_EQ(client.ask("OPTIONS /none").status, 404);
}

TEST(Visitors, ReceiveTheErrorOfAHandler) {
    Served server;
    auto client = server.client();
    EXPECT_EQ(client.ask("GET /broken/usage").body, R"({"error":{"status":400,"text":"a \"bad\" value"}})");
    EXPECT_EQ(client.ask("GET /broken/no_input").status, 404);
    EXPECT_EQ(client.ask("GET /broken/config").status, 409);
    EXPECT_EQ(client.ask("GET /broken/else").status, 500);
}

TEST(Visitors, MustNameThisServerAsHost) {
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

TEST(Visitors, CannotChangeAnythingFromOtherOrigins) {
    Served server;
    const auto status = [&](const std::string& fields) {
        return server.client().ask("PUT /cameras/a", "Content-Length: 2\r\n" + fields, "{}").status;
    };
    const std::string json = json_type;
    EXPECT_EQ(status(json), 200);
    EXPECT_EQ(status("Content-Type: Application/JSON; charset=utf-8\r\n"), 200);
    EXPECT_EQ(status(json + "Origin: http://localhost\r\n"), 200);
    EXPECT_EQ(status(json + "Origin: https://localhost\r\n"), 200);  // by a proxy that ends TLS
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

TEST(Visitors, NeedTheTokenIfThereIsOne) {
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
    // A public path must not help to guess tokens either.
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

// A page does this if it stays open while the server's token changes.
TEST(Visitors, MayRepeatAnOutdatedToken) {
    auto options = on_any_port();
    options.token = "correct-horse-battery";
    Served server(options);
    auto client = server.client();
    for (int i = 0; i < 50; ++i) EXPECT_EQ(client.ask("GET /", "Authorization: Bearer of yesterday\r\n").status, 401);
    for (int i = 0; i < 50; ++i) EXPECT_EQ(client.ask("GET /cameras/a").status, 401) << "no token is no guess";
    EXPECT_EQ(client.ask("GET /", "Authorization: Bearer correct-horse-battery\r\n").status, 200);
}

TEST(Visitors, AreDistinguishedBehindATrustedProxy) {
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
            << "what the client wrote itself makes it nobody else";
    EXPECT_EQ(ask(right, guesser), 429);
    EXPECT_EQ(ask(right, other), 200);
    EXPECT_EQ(ask(right, "[2001:db8::1]:4711"), 200);
    EXPECT_EQ(ask(right, "nonsense"), 200) << "then it is the proxy that asks";
    // The header is ignored if it comes from another address.
    for (int i = 0; i < 5; ++i) EXPECT_EQ(ask("guess" + std::to_string(i), "10.9.8." + std::to_string(i), 2), 401);
    EXPECT_EQ(ask(right, other, 2), 429);
    EXPECT_EQ(ask(right, other), 200);
    // WebSockets also count for the proxy's client, with the stream protocol and without.
    const auto told = server.client().ask(
        "GET /main/stream",
        testing::upgrade_fields + "Sec-WebSocket-Protocol: framewire\r\nX-Forwarded-For: " + guesser + "\r\n");
    EXPECT_EQ(told.status, 429) << "as one who failed too often";
}

TEST(Visitors, BehindAnUntrustedProxyAreLoggedWithAdvice) {
    const kit::CapturedLog log;
    auto options = on_any_port();
    options.token = "correct-horse-battery";
    Served server(options);
    for (int i = 0; i < 6; ++i)
        server.client().ask("GET /",
                            "X-Forwarded-For: 203.0.113.9\r\nAuthorization: Bearer guess" + std::to_string(i) + "\r\n");
    EXPECT_NE(log.text().find("serve with --trusted-proxy ADDRESS"), std::string::npos) << log.text();
}

// Load balancers check the server's health like this.
TEST(Visitors, WithHttp10NeedNoHost) {
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

TEST(Visitors, ReceiveNoServerPaths) {
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
              R"({"error":{"status":500,"text":"that failed; the server's log says why"}})");
    server.listener.set_site(nullptr);
    for (const auto* whole : {"/srv/kept/a.fwd", "/srv/my films", "secret stuff [/srv/kept]"})
        EXPECT_NE(log.text().find(whole), std::string::npos) << whole << log.text();
}

TEST(Visitors, ReceiveSecurityHeaders) {
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

}  // namespace refusals_test
}  // namespace framewire::net
