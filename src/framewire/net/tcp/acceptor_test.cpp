#include "framewire/net/tcp/acceptor.hpp"

#include "framewire/core/error.hpp"
#include "framewire/net/client.hpp"
#include "framewire/net/server.hpp"
#include "framewire/net/testing/test_lookup.hpp"
#include "framewire/net/testing/test_server.hpp"
#include "framewire/net/testing/test_stream.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace framewire::net {
namespace acceptor_test {

using namespace std::chrono_literals;
using testing::expect_code;
using testing::on_any_port;
using testing::TestStream;

TEST(Server, ListensOnIpv6AndNames) {
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
    expect_code(ErrorCode::config, "cannot listen on camera.test:0: the name is not resolved",
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
    expect_code(ErrorCode::usage, "a limit of 0 viewers", [&] { Server second(stream.state, options); });
    options = on_any_port();
    options.greeting_limit_per_peer = 0;
    expect_code(ErrorCode::usage, "a limit of 0 greeting connections", [&] { Server second(stream.state, options); });
    options = on_any_port();
    options.stream = "a/b";
    expect_code(ErrorCode::usage, "a/b", [&] { Server second(stream.state, options); });
}

}  // namespace acceptor_test
}  // namespace framewire::net
