#pragma once

#include "framewire/net/address.hpp"
#include "framewire/net/tcp/name_lookup.hpp"
#include "framewire/net/transport/dialer.hpp"

#include <memory>
#include <stop_token>

namespace framewire::net {

/// Makes TCP connections to `server`, whose name is looked up for each.
std::unique_ptr<Dialer> tcp_dialer(const Address& server, const HostLookup& lookup, std::stop_token stop);

}  // namespace framewire::net
