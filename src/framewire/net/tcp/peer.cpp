#include "framewire/net/tcp/peer.hpp"

#include "framewire/net/address.hpp"

#include <algorithm>
#include <cstdint>

namespace framewire::net {

namespace ip = boost::asio::ip;

std::string name_of(const ip::tcp::endpoint& end) { return to_string(Address{end.address().to_string(), end.port()}); }

// A mapped IPv4 address is the same peer as the IPv4 address itself.
ip::address peer_of(const ip::address& address) {
    if (address.is_v4()) return address;
    const auto whole = address.to_v6();
    if (whole.is_v4_mapped()) return ip::make_address_v4(ip::v4_mapped, whole);
    auto bytes = whole.to_bytes();
    std::fill(bytes.begin() + 8, bytes.end(), std::uint8_t{0});
    return ip::address_v6(bytes, whole.scope_id());
}

}  // namespace framewire::net
