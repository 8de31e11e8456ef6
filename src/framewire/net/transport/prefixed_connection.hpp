#pragma once

#include "framewire/net/transport/connection.hpp"
#include "framewire/net/transport/loop.hpp"
#include "framewire/net/wire/wire.hpp"

namespace framewire::net {

/// The connection as it was before these bytes were read of it. `loop` is its own, and lives longer.
ConnectionPointer with_bytes_before(Bytes bytes, ConnectionPointer connection, Loop& loop);

}  // namespace framewire::net
