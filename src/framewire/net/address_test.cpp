#include "framewire/net/address.hpp"
#include "framewire/core/error.hpp"

#include <gtest/gtest.h>

namespace framewire::net {
namespace {

template <class Call>
ErrorCode code_of(Call call) {
    try {
        call();
    } catch (const Error& error) {
        return error.code();
    }
    return ErrorCode::internal;
}

TEST(Address, ParsesNamesAndNumericAddresses) {
    for (const char* text : {"127.0.0.1:7878", "[::1]:80", "localhost:0", "camera-3.example.org:65535"})
        EXPECT_EQ(to_string(parse_address(text)), text);
    EXPECT_EQ(parse_address("[fe80::1]:9").host, "fe80::1");
}

TEST(Address, RejectsInvalidText) {
    for (const char* text :
         {"", "7878", "localhost", ":7878", "host:", "host:-1", "host:65536", "host:80x", "host: 80", "::1:80", "[::1]",
          "[]:80", "ho st:80", "a/b:80", "[[]]:1", "[[::1]]:80", "a[b]:80", "host:99999999999999999999"})
        EXPECT_EQ(code_of([&] { parse_address(text); }), ErrorCode::usage) << text;
    EXPECT_EQ(code_of([] { parse_address(std::string(300, 'a') + ":80"); }), ErrorCode::usage);
}

TEST(Address, SuggestsOnlyValidAddresses) {
    const auto advice_on = [](const std::string& text) {
        try {
            parse_address(text);
        } catch (const Error& error) {
            const std::string words = error.what();
            for (const std::string front : {"such as ", "write "})
                if (const auto at = words.find(front); at != words.npos) return words.substr(at + front.size());
        }
        return std::string();
    };
    EXPECT_EQ(advice_on("[::1]"), "[::1]:7878");
    EXPECT_EQ(advice_on("::1:80"), "[::1]:80");
    EXPECT_EQ(advice_on("::1"), "[::1]:7878");
    EXPECT_EQ(advice_on("2001:db8::5"), "[2001:db8::5]:7878");
    EXPECT_EQ(advice_on("fe80::1:99999"), "[::1]:7878") << "99999 is not a port, and the text is not an IPv6 address";
    for (const auto* text : {"[::1]", "[2001:db8::5]", "::1", "::", "::1:80", "2001:db8::5", "2001:db8::5:7878", "[::1",
                             "[nonsense]", "[", "[]", "]", ":", "::x:80", "a:b:80", "7878", "localhost", ":7878"})
        EXPECT_NO_THROW(parse_address(advice_on(text))) << text << ": " << advice_on(text);
}

TEST(Address, RecognisesLoopback) {
    for (const char* text : {"127.0.0.1:1", "127.3.2.1:1", "[::1]:1", "localhost:1"})
        EXPECT_TRUE(is_loopback(parse_address(text))) << text;
    for (const char* text :
         {"0.0.0.0:1", "192.0.2.1:1", "[::]:1", "[2001:db8::1]:1", "128.0.0.1:1", "localhost.test:1", "127.1:1"})
        EXPECT_FALSE(is_loopback(parse_address(text))) << text;
}

TEST(StreamAddress, ParsesTheNameOrUsesTheDefault) {
    EXPECT_EQ(to_string(parse_stream_address("tcp://127.0.0.1:7878")), "tcp://127.0.0.1:7878/main");
    EXPECT_EQ(to_string(parse_stream_address("tcp://127.0.0.1:7878/")), "tcp://127.0.0.1:7878/main");
    EXPECT_EQ(to_string(parse_stream_address("tls://camera.test:7878/yard")), "tls://camera.test:7878/yard");
    EXPECT_EQ(to_string(parse_stream_address("ws://camera.test:7878/yard")), "ws://camera.test:7878/yard");
    EXPECT_EQ(to_string(parse_stream_address("wss://camera.test:7878")), "wss://camera.test:7878/main");
    EXPECT_EQ(to_string(parse_stream_address("tcp://[::1]:7878/yard.2")), "tcp://[::1]:7878/yard.2");
}

TEST(StreamAddress, RejectsInvalidText) {
    for (const char* url :
         {"", "127.0.0.1:7878", "http://127.0.0.1:7878", "tcp://", "tcp:///main", "tcp://host:0/main",
          "tcp://host:80/a/b", "tcp://host:80/a b", "tcp://host:80/.", "tcp://host:80/..", "tcp://host:80/\xc3\xa4"})
        EXPECT_EQ(code_of([&] { parse_stream_address(url); }), ErrorCode::usage) << url;
    EXPECT_EQ(code_of([] { parse_stream_address("tcp://host:80/" + std::string(65, 'a')); }), ErrorCode::usage);
}

}  // namespace
}  // namespace framewire::net
