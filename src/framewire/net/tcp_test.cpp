#include "framewire/net/tcp.hpp"
#include "framewire/core/error.hpp"
#include "framewire/net/client.hpp"
#include "framewire/net/server.hpp"
#include "framewire/net/testing/test_lookup.hpp"
#include "framewire/net/testing/test_server.hpp"
#include "framewire/net/testing/test_stream.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>

namespace framewire::net {
namespace {

using namespace std::chrono_literals;
using testing::expect_code;
using testing::on_any_port;
using testing::TestStream;

TEST(Server, ListensOnIpv6AddressesAndHostNames) {
    TestStream stream;
    stream.step();
    for (const char* host : {"::1", "localhost"}) {
        auto options = on_any_port();
        options.listen.host = host;
        try {
            Server server(stream.state, options);
            Client client(server.address());
            EXPECT_TRUE(client.next());
        } catch (const Error& error) {
            // The machine may have no IPv6, but it has a name for loopback.
            if (std::string(host) == "localhost") throw;
            EXPECT_EQ(error.code(), ErrorCode::config) << error.what();
        }
    }
}

TEST(Server, DoesNotBlockOnAHangingResolver) {
    TestStream stream;
    const testing::BlockedLookup blocked;
    auto options = on_any_port();
    options.listen.host = "camera.test";
    options.lookup = blocked.lookup();
    options.lookup_deadline = 20ms;
    expect_code(ErrorCode::config, "cannot listen on camera.test:0: the name cannot be resolved",
                [&] { Server server(stream.state, options); });
    options.lookup_deadline = 1h;
    std::stop_source stop;
    stop.request_stop();
    expect_code(ErrorCode::config, "cannot listen on camera.test:0",
                [&] { Server server(stream.state, options, stop.get_token()); });
}

TEST(Server, ReportsWhyItCannotListen) {
    TestStream stream;
    Server first(stream.state, on_any_port());
    auto options = on_any_port();
    options.listen.port = first.address().server.port;
    expect_code(ErrorCode::config, "cannot listen on 127.0.0.1:", [&] { Server second(stream.state, options); });
    options.listen = {"192.0.2.1", 0};  // an address reserved for documentation (RFC 5737)
    expect_code(ErrorCode::config, "cannot listen on 192.0.2.1:0", [&] { Server second(stream.state, options); });
    options = on_any_port();
    options.viewers_limit = 0;
    expect_code(ErrorCode::usage, "the viewer limit is 0", [&] { Server second(stream.state, options); });
    options = on_any_port();
    options.greeting_limit_per_peer = 0;
    expect_code(ErrorCode::usage, "the limit on pending connections is 0",
                [&] { Server second(stream.state, options); });
    options = on_any_port();
    options.stream = "a/b";
    expect_code(ErrorCode::usage, "a/b", [&] { Server second(stream.state, options); });
}

using namespace std::chrono_literals;
using testing::BlockedLookup;

TEST(NameLookup, ReturnsNumericAddressesUnchanged) {
    const BlockedLookup blocked;
    for (const char* host : {"127.0.0.1", "::1", "fe80::1%1"})
        EXPECT_EQ(NameLookup(host, blocked.lookup()).addresses(Clock::now(), {}), std::vector<std::string>{host});
    EXPECT_EQ(blocked.asked(), 0);
}

TEST(NameLookup, ResolvesLocalhost) {
    const auto found = NameLookup("localhost", system_lookup).addresses(Clock::now() + 1min, {});
    ASSERT_TRUE(found);
    EXPECT_FALSE(found->empty());
    for (const auto& address : *found) EXPECT_TRUE(address == "127.0.0.1" || address == "::1") << address;
}

TEST(NameLookup, ReportsWhyALookupFailed) {
    const auto problem = [](HostLookup lookup) -> std::string {
        try {
            NameLookup("camera.test", std::move(lookup)).addresses(Clock::now() + 1min, {});
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::no_input);
            return error.what();
        }
        return "none";
    };
    EXPECT_EQ(problem([](const std::string&) { return std::vector<std::string>{}; }), "the name has no addresses");
    EXPECT_EQ(problem([](const std::string& host) -> std::vector<std::string> {
                  fail(ErrorCode::no_input, "nobody is called {}", host);
              }),
              "nobody is called camera.test");
}

TEST(NameLookup, DoesNotBlockOnAHangingLookup) {
    BlockedLookup blocked;
    NameLookup name("camera.test", blocked.lookup());
    for (int i = 0; i < 10; ++i) EXPECT_FALSE(name.addresses(Clock::now() + 1ms, {}));
    std::stop_source stop;
    auto waiting = std::async(std::launch::async, [&] { return name.addresses(Clock::now() + 1h, stop.get_token()); });
    stop.request_stop();
    EXPECT_FALSE(waiting.get());
    blocked.release();
    EXPECT_EQ(name.addresses(Clock::now() + 1min, {}), std::vector<std::string>{"127.0.0.1"});
    EXPECT_EQ(blocked.asked(), 1) << "repeated calls must share one lookup";
    EXPECT_TRUE(name.addresses(Clock::now() + 1min, {}));
    EXPECT_EQ(blocked.asked(), 2) << "a finished lookup must be repeated, because addresses can change";
}

using boost::asio::ip::make_address;

TEST(PeerOf, IsAnIpv4AddressOrAnIpv6Network) {
    EXPECT_EQ(peer_of(make_address("192.0.2.1")), make_address("192.0.2.1"));
    EXPECT_EQ(peer_of(make_address("::ffff:192.0.2.1")), make_address("192.0.2.1"));
    EXPECT_NE(peer_of(make_address("::ffff:192.0.2.1")), peer_of(make_address("::ffff:192.0.2.2")));
    EXPECT_EQ(peer_of(make_address("2001:db8::1")), peer_of(make_address("2001:db8::2:3:4:5")));
    EXPECT_NE(peer_of(make_address("2001:db8::1")), peer_of(make_address("2001:db8:0:1::1")));
}

}  // namespace
}  // namespace framewire::net
