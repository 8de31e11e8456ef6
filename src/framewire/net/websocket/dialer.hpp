#pragma once

#include "framewire/net/address.hpp"
#include "framewire/net/transport/dialer.hpp"

#include <memory>

namespace framewire::net {

/// Makes WebSockets of a stream over the connections of another dialer, which lead to `server`.
std::unique_ptr<Dialer> websocket_dialer(std::unique_ptr<Dialer> carrier, const StreamAddress& server);

}  // namespace framewire::net
