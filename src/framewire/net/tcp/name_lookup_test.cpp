#include "framewire/net/tcp/name_lookup.hpp"

#include "framewire/core/error.hpp"
#include "framewire/net/testing/test_lookup.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>

namespace framewire::net {
namespace name_lookup_test {

using namespace std::chrono_literals;
using testing::BlockedLookup;

TEST(NameLookup, ReturnsNumericAddressesUnchanged) {
    const BlockedLookup blocked;
    for (const char* host : {"127.0.0.1", "::1", "fe80::1%1"})
        EXPECT_EQ(NameLookup(host, blocked.lookup()).addresses(Clock::now(), {}), std::vector<std::string>{host});
    EXPECT_EQ(blocked.asked(), 0);
}

TEST(NameLookup, FindsLoopback) {
    const auto found = NameLookup("localhost", system_lookup).addresses(Clock::now() + 1min, {});
    ASSERT_TRUE(found);
    EXPECT_FALSE(found->empty());
    for (const auto& address : *found) EXPECT_TRUE(address == "127.0.0.1" || address == "::1") << address;
}

TEST(NameLookup, ReportsWhyThereIsNoAddress) {
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
    EXPECT_EQ(blocked.asked(), 1) << "a thread each time it is asked for";
    EXPECT_TRUE(name.addresses(Clock::now() + 1min, {}));
    EXPECT_EQ(blocked.asked(), 2) << "names may come to stand for something else";
}

}  // namespace name_lookup_test
}  // namespace framewire::net
