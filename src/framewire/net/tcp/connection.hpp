#pragma once

#include "framewire/net/transport/connection.hpp"

#include <boost/asio/ip/tcp.hpp>

namespace framewire::net {

/// A TCP connection, in the thread that runs its socket's context. It sends without delay, and keeps little unsent, so
/// that what a slow viewer is sent is not stale.
ConnectionPointer tcp_connection(boost::asio::ip::tcp::socket socket);

}  // namespace framewire::net
