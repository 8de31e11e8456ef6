#pragma once

#include "framewire/net/address.hpp"
#include "framewire/net/transport/dialer.hpp"

#include <memory>
#include <string>

namespace framewire::net {

/// Returns a dialer for TLS over the connections of `carrier`. The certificate of `server` must have the fingerprint
/// or, if that is empty, is verified. dial() throws Error{source_lost} if the peer does not speak TLS or is not
/// trusted, because another attempt would give the same result. Throws like client_context().
std::unique_ptr<Dialer> tls_dialer(std::unique_ptr<Dialer> carrier, const Address& server,
                                   const std::string& fingerprint);

}  // namespace framewire::net
