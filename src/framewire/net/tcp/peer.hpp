#pragma once

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <string>

namespace framewire::net {

/// Formats the address of a peer, such as "127.0.0.1:40312".
std::string name_of(const boost::asio::ip::tcp::endpoint& end);

/// Returns the key for limits per peer: an IPv4 address, also if it is mapped into IPv6; otherwise the /64 network of
/// an IPv6 address, because one subscriber usually has all addresses in it.
boost::asio::ip::address peer_of(const boost::asio::ip::address& address);

}  // namespace framewire::net
