#include "framewire/net/websocket.hpp"
#include "framewire/net/client.hpp"
#include "framewire/net/server.hpp"
#include "framewire/net/testing/test_certificates.hpp"
#include "framewire/net/testing/test_http.hpp"
#include "framewire/net/testing/test_memory.hpp"
#include "framewire/net/testing/test_server.hpp"
#include "framewire/net/testing/test_stream.hpp"
#include "framewire/net/testing/test_websocket.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>

namespace framewire::net {
namespace {

using namespace std::chrono_literals;
using testing::accept_browser;
using testing::bytes_of;
using testing::connection_pair;
using testing::eventually;
using testing::expect_code;
using testing::expect_equal;
using testing::follow;
using testing::greeting_of;
using testing::hello_for;
using testing::HttpClient;
using testing::ManualLoop;
using testing::MemoryPeer;
using testing::on_any_port;
using testing::refusal_in;
using testing::TestStream;
using testing::upgrade_fields;

StreamAddress over_websocket(StreamAddress address) {
    address.scheme = encrypted(address.scheme) ? Scheme::websocket_tls : Scheme::websocket;
    return address;
}

const std::string stream_fields = upgrade_fields + "Sec-WebSocket-Protocol: framewire\r\n";

// Returns a frame as a browser sends it, masked unless `masked` is false.
std::string frame(std::uint8_t first, const std::string& content, bool masked = true) {
    std::string bytes(1, static_cast<char>(first));
    const auto mask_bit = static_cast<std::size_t>(masked ? 0x80 : 0);
    if (content.size() < 126) {
        bytes += static_cast<char>(mask_bit | content.size());
    } else {
        bytes += static_cast<char>(mask_bit | 126);
        bytes += static_cast<char>(content.size() >> 8);
        bytes += static_cast<char>(content.size() & 0xff);
    }
    const std::string mask("\x11\x22\x33\x44");
    if (masked) bytes += mask;
    for (std::size_t i = 0; i < content.size(); ++i)
        bytes += masked ? static_cast<char>(content[i] ^ mask[i % 4]) : content[i];
    return bytes;
}
std::string text_of(const Bytes& bytes) { return {bytes.begin(), bytes.end()}; }

TEST(WebSocket, CarriesAStreamToItsEnd) {
    TestStream stream;
    Listener listener(on_any_port());
    auto served = listener.add("yard", stream.state);
    stream.step();
    Client native(served.address()), client(over_websocket(served.address()));
    for (std::uint64_t version = 1; version <= 20; ++version) {
        for (auto* one : {&native, &client}) {
            follow(*one, version);
            expect_equal(one->picture(), stream.reference());
        }
        stream.step();
        served.publish();
    }
    follow(client, 21);
    follow(native, 21);
    auto ending = std::async(std::launch::async, [&] { return served.finish(10s); });
    EXPECT_FALSE(client.next());
    EXPECT_FALSE(native.next());
    EXPECT_EQ(ending.get(), 0);
    expect_code(ErrorCode::no_input, "has ended", [&] { Client late(over_websocket(served.address())); });
    EXPECT_EQ(listener.metrics().dropped, 0);
}

TEST(WebSocket, CarriesAStreamOverTls) {
    TestStream stream;
    stream.step();
    auto options = on_any_port();
    options.token = "correct-horse-battery";
    options.tls = testing::TestAuthority().identity("DNS:localhost,IP:127.0.0.1");
    Listener listener(options);
    const auto served = listener.add("main", stream.state);
    const ClientOptions with_token{.token = options.token, .fingerprint = fingerprint_of(*options.tls)};
    Client client(over_websocket(served.address()), with_token);
    ASSERT_TRUE(client.next());
    expect_equal(client.picture(), stream.reference());
    expect_code(ErrorCode::no_input, "a token is required",
                [&] { Client stranger(over_websocket(served.address()), {.fingerprint = with_token.fingerprint}); });
}

TEST(WebSocket, ServesOnlyTheStreamOfItsPath) {
    TestStream stream;
    Listener listener(on_any_port());
    const auto yard = listener.add("yard", stream.state), roof = listener.add("roof", stream.state);
    HttpClient browser(listener.address().port);
    EXPECT_EQ(browser.ask("GET /yard/stream", stream_fields).status, 101);
    browser.say(frame(0x82, text_of(hello_for("roof"))));
    EXPECT_TRUE(browser.hear_until("its hello requests a different stream than its WebSocket"));
    expect_code(ErrorCode::no_input, "there is no stream 'attic' here", [&] {
        Client client(StreamAddress{listener.address(), "attic", Scheme::websocket});
    });
}

// A hello split over several messages and frames, with a ping in between. The server's hello arrives as one message.
TEST(WebSocket, AcceptsFragmentedMessages) {
    TestStream stream;
    Listener listener(on_any_port());
    const auto served = listener.add("main", stream.state);
    HttpClient browser(listener.address().port);
    const auto answer = browser.ask("GET /main/stream", stream_fields);
    EXPECT_TRUE(answer.says("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
    EXPECT_TRUE(answer.says("Sec-WebSocket-Protocol: framewire"));
    const auto hello = text_of(hello_for("main"));
    browser.say(frame(0x82, ""));
    browser.say(frame(0x82, hello.substr(0, 3)));
    browser.say(frame(0x02, hello.substr(3, 5)));
    browser.say(frame(0x89, "alive?"));
    browser.say(frame(0x00, hello.substr(8, 2)));
    browser.say(frame(0x80, hello.substr(10)));
    EXPECT_TRUE(browser.hear_until(frame(0x8a, "alive?", false)));
    EXPECT_TRUE(browser.hear_until(frame(0x82, text_of(greeting_of(stream.state)), false)));
    browser.say(frame(0x88, std::string("\x03\xe8", 2)));
    EXPECT_TRUE(browser.hear_until(frame(0x88, std::string("\x03\xe8", 2), false)));
    EXPECT_TRUE(browser.closed());
    EXPECT_TRUE(eventually([&] { return listener.metrics().viewers == 0; }));
    EXPECT_EQ(listener.metrics().dropped, 0);
}

TEST(WebSocket, ClosesOnInvalidFrames) {
    TestStream stream;
    Listener listener(on_any_port());
    const auto served = listener.add("main", stream.state);
    const auto hello = text_of(hello_for("main"));
    const std::string wrong[] = {
        frame(0x82, hello, false),           // not masked
        frame(0x81, "some words"),           // text instead of binary
        frame(0xc2, hello),                  // a reserved bit of an extension that was not negotiated
        frame(0x83, hello),                  // an unknown opcode
        frame(0x80, hello),                  // a continuation without a start
        frame(0x09, "a ping in pieces"),     // a fragmented ping
        frame(0x89, std::string(126, 'x')),  // a ping that is too long
        std::string("\x82\xff\x00\x00\x00\x7f\xff\xff\xff\xff\x11\x22\x33\x44", 14),  // too long
        std::string("\x82\xff\xff\xff\xff\xff\xff\xff\xff\xff\x11\x22\x33\x44", 14),  // an invalid length
    };
    for (const auto& bytes : wrong) {
        HttpClient browser(listener.address().port);
        ASSERT_EQ(browser.ask("GET /main/stream", stream_fields).status, 101);
        browser.say(bytes);
        EXPECT_TRUE(browser.closed());
    }
    // The same frames from a viewer that has been accepted.
    for (const auto& bytes : wrong) {
        HttpClient browser(listener.address().port);
        ASSERT_EQ(browser.ask("GET /main/stream", stream_fields).status, 101);
        browser.say(frame(0x82, hello));
        EXPECT_TRUE(browser.hear_until("a test"));
        browser.say(bytes);
        EXPECT_TRUE(browser.closed());
    }
    EXPECT_TRUE(eventually([&] { return listener.metrics().viewers == 0; }));
    Client honest(over_websocket(served.address()));
    EXPECT_EQ(honest.info().source, "a test");
}

TEST(WebSocket, RejectsInvalidHandshakes) {
    TestStream stream;
    Listener listener(on_any_port());
    const auto served = listener.add("main", stream.state);
    const auto without = [](const std::string& line) {
        auto fields = stream_fields;
        const auto at = fields.find(line);
        return fields.erase(at, fields.find("\r\n", at) + 2 - at);
    };
    const auto status = [&](const std::string& fields, const std::string& line = "GET /main/stream") {
        return HttpClient(listener.address().port).ask(line, fields).status;
    };
    EXPECT_EQ(status(stream_fields), 101);
    EXPECT_EQ(status(without("Sec-WebSocket-Key")), 400);
    EXPECT_EQ(status(without("Sec-WebSocket-Version")), 400);
    EXPECT_EQ(status(without("Sec-WebSocket-Version") + "Sec-WebSocket-Version: 8\r\n"), 400);
    EXPECT_EQ(status(without("Sec-WebSocket-Protocol")), 400);
    EXPECT_EQ(status(stream_fields, "POST /main/stream"), 400);
    EXPECT_EQ(status(stream_fields + "Origin: http://localhost\r\n"), 101);
    EXPECT_EQ(status(stream_fields + "Origin: http://localhost:1234\r\n"), 403);
    EXPECT_EQ(status(stream_fields + "Origin: https://localhost\r\n"), 101);  // through a proxy that terminates TLS
    EXPECT_EQ(status(stream_fields + "Origin: null\r\n"), 403);
    EXPECT_EQ(status(stream_fields + "Origin: http://localhost\r\nOrigin: http://localhost\r\n"), 403);
    EXPECT_EQ(status(stream_fields + "Sec-Fetch-Site: cross-site\r\n"), 403);
}

// Uses a connection in memory and a loop that the test runs by hand.
TEST(WebSocket, ReportsWriteProgress) {
    ManualLoop loop;
    constexpr std::size_t capacity = 1000;
    auto [near, far] = connection_pair(loop, "somebody", capacity);
    MemoryPeer browser(loop, std::move(far));
    WebSocketConnection socket(std::move(near), {.post = [&](auto task) { loop.post(std::move(task)); }});
    EXPECT_EQ(socket.name(), "somebody");
    EXPECT_TRUE(accept_browser(socket, loop));
    browser.hear();
    const Bytes first(700, 1), second(5000, 2);
    const ByteSpan pieces[] = {first, second};
    std::size_t taken = 0, written = 0;
    socket.write(
        pieces, [&](std::size_t bytes) { taken = bytes; },
        [&](const std::error_code& error, std::size_t bytes) { written = error ? 0 : bytes; });
    loop.run();
    EXPECT_GE(taken, 700u);
    EXPECT_LT(taken, 5700u);
    EXPECT_EQ(written, 0u);
    const auto heard = browser.hear();
    loop.run();
    EXPECT_EQ(written, 5700u);
    EXPECT_EQ(heard.size(), 5700u + 4u + 4u);
    // A closed connection calls no callbacks.
    socket.write(
        pieces, [&](std::size_t) { FAIL(); }, [&](const std::error_code&, std::size_t) { FAIL(); });
    socket.read_some({}, [&](const std::error_code&, std::size_t) { FAIL(); });
    socket.close();
    loop.run();
}

}  // namespace
}  // namespace framewire::net
