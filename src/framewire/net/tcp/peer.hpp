#pragma once

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <string>

namespace framewire::net {

/// The other end of a connection for people to read: "127.0.0.1:40312".
std::string name_of(const boost::asio::ip::tcp::endpoint& end);

/// Whom an address belongs to, as far as that can be told: an IPv4 address is one peer, also where it is mapped into
/// IPv6; of an IPv6 address the first 64 bits are, for whoever has one address there has them all.
boost::asio::ip::address peer_of(const boost::asio::ip::address& address);

}  // namespace framewire::net
