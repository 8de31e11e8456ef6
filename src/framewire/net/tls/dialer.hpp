#pragma once

#include "framewire/net/address.hpp"
#include "framewire/net/transport/dialer.hpp"

#include <memory>
#include <string>

namespace framewire::net {

/// Makes TLS connections over those of another dialer, to `server`, whose certificate has the fingerprint or, where
/// that is empty, is verified. dial() throws Error{source_lost} where the other end speaks no TLS or is not to be
/// trusted, which another time would be no different. Throws as client_context() does.
std::unique_ptr<Dialer> tls_dialer(std::unique_ptr<Dialer> carrier, const Address& server,
                                   const std::string& fingerprint);

}  // namespace framewire::net
