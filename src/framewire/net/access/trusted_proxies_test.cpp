#include "framewire/net/access/trusted_proxies.hpp"

#include "framewire/net/testing/test_memory.hpp"
#include "framewire/net/testing/test_server.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace framewire::net {
namespace trusted_proxies_test {

std::string address_of(const TrustedProxies& proxies, const std::vector<std::string_view>& fields) {
    const auto client = proxies.client_of(fields);
    return client ? client->address : "none";
}

TEST(TrustedProxies, AcceptAddressesAndNetworks) {
    testing::ManualLoop loop;
    const auto trusts = [&](const std::vector<std::string>& networks, const std::string& name) {
        const auto pair = testing::connection_pair(loop, name, 1);
        return TrustedProxies(networks).trusts(*pair.first);
    };
    EXPECT_FALSE(trusts({}, "127.0.0.1:80"));
    EXPECT_TRUE(trusts({"127.0.0.1"}, "127.0.0.1:80"));
    EXPECT_TRUE(trusts({"127.0.0.1"}, "[::ffff:127.0.0.1]:80")) << "as a socket for both families has it";
    EXPECT_FALSE(trusts({"127.0.0.1"}, "127.0.0.2:80"));
    EXPECT_TRUE(trusts({"10.1.0.0/15"}, "10.0.255.255:80"));
    EXPECT_TRUE(trusts({"10.0.0.0/15"}, "10.1.2.3:80"));
    EXPECT_FALSE(trusts({"10.0.0.0/15"}, "10.2.0.0:80"));
    EXPECT_TRUE(trusts({"0.0.0.0/0"}, "203.0.113.9:80"));
    EXPECT_FALSE(trusts({"0.0.0.0/0"}, "[2001:db8::1]:80"));
    EXPECT_TRUE(trusts({"fd00::/8", "::1"}, "[fd12::3]:80"));
    EXPECT_TRUE(trusts({"fd00::/8", "::1"}, "[::1]:80"));
    EXPECT_FALSE(trusts({"fd00::/8", "::1"}, "[fe80::1]:80"));
    EXPECT_FALSE(trusts({"::/0"}, "a viewer")) << "whose address is not known";
    EXPECT_FALSE(trusts({"127.0.0.1"}, "127.0.0.1 through 127.0.0.1:80")) << "a client that a proxy speaks for";
    for (const auto* bad :
         {"", "proxy", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "10.0.0", "::1/129", "[::1]", "10.0.0.1:80"})
        testing::expect_code(ErrorCode::usage, "is no address of a proxy", [&] { TrustedProxies{{bad}}; });
}

TEST(TrustedProxies, ForwardTheRightmostUntrustedAddress) {
    const TrustedProxies proxies({"127.0.0.1", "10.0.0.0/8", "fd00::/8"});
    EXPECT_EQ(address_of(proxies, {"203.0.113.9"}), "203.0.113.9");
    EXPECT_EQ(address_of(proxies, {"198.51.100.7, 203.0.113.9"}), "203.0.113.9") << "the left one the client made up";
    EXPECT_EQ(address_of(proxies, {"198.51.100.7,203.0.113.9 , 10.1.2.3,127.0.0.1"}), "203.0.113.9");
    EXPECT_EQ(address_of(proxies, {"198.51.100.7", "203.0.113.9"}), "203.0.113.9") << "two fields are one list";
    EXPECT_EQ(address_of(proxies, {"10.0.0.1, 10.0.0.2"}), "10.0.0.1") << "a client among the proxies";
    EXPECT_EQ(address_of(proxies, {"203.0.113.9:4711"}), "203.0.113.9");
    EXPECT_EQ(address_of(proxies, {"2001:db8::1"}), "2001:db8::1");
    EXPECT_EQ(address_of(proxies, {"[2001:db8::1]"}), "2001:db8::1");
    EXPECT_EQ(address_of(proxies, {"[2001:DB8::1]:4711, [fd00::1]:80"}), "2001:db8::1");
    EXPECT_EQ(address_of(proxies, {"::ffff:203.0.113.9"}), "203.0.113.9");
}

TEST(TrustedProxies, AreTheClientWithoutAUsableHeader) {
    const TrustedProxies proxies({"10.0.0.0/8"});
    for (const auto* bad :
         {"", " ", "unknown", "_hidden", "203.0.113", "203.0.113.9:99999", "[2001:db8::1", "[2001:db8::1]x",
          "2001:db8::1::2", "203.0.113.9,", "203.0.113.9, unknown", "\"203.0.113.9\""})
        EXPECT_EQ(address_of(proxies, {bad}), "none") << bad;
    EXPECT_EQ(address_of(proxies, {}), "none");
    EXPECT_EQ(address_of(proxies, {"198.51.100.7, nonsense, 10.0.0.7"}), "10.0.0.7") << "the last that is known";
    const std::string commas(16'000, ',');
    EXPECT_EQ(address_of(proxies, {commas}), "none");
}

TEST(TrustedProxies, CountAnIPv6NetworkAsOnePeer) {
    const TrustedProxies proxies({"127.0.0.1"});
    EXPECT_EQ(proxies.client_of({"2001:db8:1:2:3:4:5:6"})->peer, "2001:db8:1:2::");
    EXPECT_EQ(proxies.client_of({"203.0.113.9"})->peer, "203.0.113.9");
}

}  // namespace trusted_proxies_test
}  // namespace framewire::net
