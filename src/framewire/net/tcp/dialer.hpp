#pragma once

#include "framewire/net/address.hpp"
#include "framewire/net/tcp/name_lookup.hpp"
#include "framewire/net/transport/dialer.hpp"

#include <memory>
#include <stop_token>

namespace framewire::net {

/// Returns a dialer for TCP connections to `server`, whose name is resolved for each connection. `stop` ends its waits.
std::unique_ptr<Dialer> tcp_dialer(const Address& server, const HostLookup& lookup, std::stop_token stop);

}  // namespace framewire::net
