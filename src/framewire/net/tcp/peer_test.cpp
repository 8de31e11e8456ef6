#include "framewire/net/tcp/peer.hpp"

#include <gtest/gtest.h>

namespace framewire::net {
namespace peer_test {

using boost::asio::ip::make_address;

TEST(PeerOf, IsAnIpv4AddressOrAnIpv6Network) {
    EXPECT_EQ(peer_of(make_address("192.0.2.1")), make_address("192.0.2.1"));
    EXPECT_EQ(peer_of(make_address("::ffff:192.0.2.1")), make_address("192.0.2.1"));
    EXPECT_NE(peer_of(make_address("::ffff:192.0.2.1")), peer_of(make_address("::ffff:192.0.2.2")));
    EXPECT_EQ(peer_of(make_address("2001:db8::1")), peer_of(make_address("2001:db8::2:3:4:5")));
    EXPECT_NE(peer_of(make_address("2001:db8::1")), peer_of(make_address("2001:db8:0:1::1")));
}

}  // namespace peer_test
}  // namespace framewire::net
