#include "framewire/net/http_client.hpp"
#include "framewire/core/error.hpp"
#include "framewire/net/http.hpp"
#include "framewire/net/server.hpp"
#include "framewire/net/testing/test_http.hpp"
#include "framewire/net/testing/test_server.hpp"
#include "framewire/net/testing/test_tcp.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>

namespace framewire::net::http {
namespace {

using namespace std::chrono_literals;
using testing::bytes_of;
using testing::RawListener;

TEST(HttpServerAddress, HasDefaults) {
    const auto plain = parse_server_address("http://frigate.lan");
    EXPECT_EQ(plain.server.host, "frigate.lan");
    EXPECT_EQ(plain.server.port, 80);
    EXPECT_FALSE(plain.tls);
    EXPECT_EQ(plain.base_path, "");
    const auto secure = parse_server_address("https://[::1]/a/b/");
    EXPECT_EQ(secure.server.host, "::1");
    EXPECT_EQ(secure.server.port, 443);
    EXPECT_EQ(to_string(secure), "https://[::1]:443/a/b");
    EXPECT_EQ(to_string(parse_server_address("http://10.0.0.7:5000/")), "http://10.0.0.7:5000");
}

TEST(HttpServerAddress, ErrorsDoNotRevealPasswords) {
    for (const std::string text : {"", "frigate.lan", "ftp://a", "http://bob:secret@a", "http://bob:secret@a/b",
                                   "http://", "http://:80", "http://a:0", "http://a:x", "http://a:65536", "http://a//b",
                                   "http://a/b?c", "http://a/../b", "http://a/b c", "http://a b", "http://a\r\nX: y"})
        try {
            parse_server_address(text);
            ADD_FAILURE() << text << " is accepted";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::usage) << text;
            EXPECT_EQ(std::string(error.what()).find("secret"), std::string::npos) << error.what();
        }
}

// Feeds a response in pieces of this size.
ClientResponse read(const std::string& text, std::size_t piece) {
    ResponseReader reader;
    const auto bytes = bytes_of(text);
    for (std::size_t at = 0; at < bytes.size(); at += piece)
        if (reader.take(ByteSpan(bytes).subspan(at, std::min(piece, bytes.size() - at)))) return reader.response();
    reader.end();
    return reader.response();
}

TEST(HttpResponseReader, ReadsEveryFormOfBody) {
    const std::pair<std::string, std::string> texts[] = {
        {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello"},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\n\r\n", "hello"},
        {"HTTP/1.0 200 OK\r\n\r\nhello", "hello"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello and more", "hello"},
        {"HTTP/1.1 204 No Content\r\n\r\n", ""},
        {"HTTP/1.1 302 Found\r\nLocation: http://elsewhere/\r\nContent-Length: 0\r\n\r\n", ""},
    };
    for (const auto& [text, body] : texts)
        for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, text.size()}) {
            const auto response = read(text, piece);
            EXPECT_EQ(response.body, body) << text;
            EXPECT_EQ(response.status, std::stoi(text.substr(9, 3)));
        }
}

TEST(HttpResponseReader, RefusesWhatIsInvalidOrTooLarge) {
    const std::string large(ResponseReader::body_limit_bytes + 1, 'x');
    const std::string texts[] = {
        "",
        "HTTP/1.1 200 OK\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
        "SSH-2.0-OpenSSH_9.2\r\n",
        "HTTP/1.1 20x OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: " + large + "\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\n" + large,
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n" + large,
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;" + large,
    };
    for (const auto& text : texts)
        for (const std::size_t piece : {std::size_t{4096}, std::size_t{100'000}})
            EXPECT_THROW(read(text, piece), Lost) << text.substr(0, 80);
    EXPECT_EQ(read("HTTP/1.1 200 OK\r\n\r\n" + large.substr(1), 4096).body.size(), ResponseReader::body_limit_bytes);
}

ClientResponse ask(std::uint16_t port, std::chrono::milliseconds deadline, std::stop_token stop = {}) {
    const ServerAddress address{.server = {"127.0.0.1", port}, .base_path = "/base"};
    return exchange(*dialer_to(address, std::move(stop)), address, {"PUT", "/x", R"({"a":1})"},
                    Clock::now() + deadline);
}

TEST(HttpClient, ExchangesARequestWithAServer) {
    Listener listener(testing::on_any_port());
    auto site = std::make_shared<Site>();
    site->add({Method::put, "/base/x", Access::control,
               [](const Request& request) { return json_response(R"({"got":)" + request.body + "}", 201); }});
    listener.set_site(site);
    const auto response = ask(listener.address().port, 10s);
    EXPECT_EQ(response.status, 201);
    EXPECT_EQ(response.body, R"({"got":{"a":1}})");
}

// A redirect to another server is an answer, and nothing is sent to that server.
TEST(HttpClient, DoesNotFollowRedirects) {
    RawListener listener, elsewhere;
    std::jthread server([&] {
        auto connection = listener.accept();
        ASSERT_TRUE(connection);
        connection->read(4096);
        connection->send(bytes_of("HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:" +
                                  std::to_string(elsewhere.port()) + "/\r\nContent-Length: 0\r\n\r\n"));
    });
    EXPECT_EQ(ask(listener.port(), 10s).status, 307);
    EXPECT_FALSE(elsewhere.accept(100ms));
}

TEST(HttpClient, GivesUpOnServersThatAreSilentSlowOrGone) {
    std::uint16_t closed_port = 0;
    closed_port = RawListener().port();
    EXPECT_THROW(ask(closed_port, 10s), Lost);

    RawListener silent;
    auto begin = Clock::now();
    EXPECT_THROW(ask(silent.port(), 200ms), Lost);
    EXPECT_GE(Clock::now() - begin, 200ms);

    // Each byte arrives in time, but the response does not.
    RawListener slow;
    std::jthread dripping([&](const std::stop_token& stop) {
        auto connection = slow.accept();
        if (!connection) return;
        while (!stop.stop_requested() && connection->send(bytes_of("H"))) std::this_thread::sleep_for(20ms);
    });
    EXPECT_THROW(ask(slow.port(), 300ms), Lost);
    dripping.request_stop();

    std::stop_source stop;
    std::jthread stopping([&] {
        std::this_thread::sleep_for(100ms);
        stop.request_stop();
    });
    begin = Clock::now();
    EXPECT_THROW(ask(silent.port(), 60s, stop.get_token()), Lost);
    EXPECT_LT(Clock::now() - begin, 30s);
}

}  // namespace
}  // namespace framewire::net::http
