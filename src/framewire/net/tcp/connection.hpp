#pragma once

#include "framewire/net/transport/connection.hpp"

#include <boost/asio/ip/tcp.hpp>

namespace framewire::net {

/// Wraps a connected socket. Use it on the thread that runs the socket's context. Sends without delay (TCP_NODELAY) and
/// limits unsent data (TCP_NOTSENT_LOWAT), so that a slow viewer does not receive stale pictures.
ConnectionPointer tcp_connection(boost::asio::ip::tcp::socket socket);

}  // namespace framewire::net
