#pragma once

#include "framewire/net/address.hpp"
#include "framewire/net/transport/dialer.hpp"

#include <memory>

namespace framewire::net {

/// Returns a dialer for WebSockets over the connections of `carrier`, to the path of the stream in `server`.
std::unique_ptr<Dialer> websocket_dialer(std::unique_ptr<Dialer> carrier, const StreamAddress& server);

}  // namespace framewire::net
