#pragma once

#include "framewire/net/transport/connection.hpp"
#include "framewire/net/transport/loop.hpp"
#include "framewire/net/wire/wire.hpp"

namespace framewire::net {

/// Returns a connection that first delivers `bytes`, which were already read from `connection`. `loop` is the
/// connection's own and must outlive it.
ConnectionPointer with_bytes_before(Bytes bytes, ConnectionPointer connection, Loop& loop);

}  // namespace framewire::net
