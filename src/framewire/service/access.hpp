#pragma once

#include "framewire/net/server.hpp"

#include <span>
#include <string>

namespace framewire::service {

/// Access control of a server.
struct AccessOptions {
    /// Optional. File with the token that viewers need. If empty, no token is needed on loopback; on other addresses
    /// the server uses the token that it keeps between runs (kept_file() "token") and creates it if it does not exist.
    std::string token_file{};
    /// True if viewers need no token, even on addresses that other machines can reach.
    bool open = false;
    /// True to use TLS with a self-signed certificate, which is kept between runs (kept_file() "tls.pem") and created
    /// if it does not exist.
    bool tls = false;
    /// Optional. PEM files for TLS: the certificate chain, starting with the server's certificate, and its key. Set
    /// both or neither.
    std::string certificate_file{}, key_file{};
};

/// Access control in effect.
struct Access {
    /// Token file in use; empty: there is no token.
    std::string token_file{};
    /// True if the token was just created and must be shown to the user once.
    bool token_made = false;
    /// Fingerprint of the certificate; empty: no TLS.
    std::string fingerprint{};
};

/// Sets token and certificate in `listener`. Logs warnings if others on the network could read the token or watch.
/// `also` are further addresses at which the server listens; if other machines can reach one of them, they need the
/// token, too.
/// Throws Error{usage} if options contradict each other, and the errors of net::read_token_file(), net::kept_file(),
/// net::keep_secret(), net::make_identity() and net::check_identity().
Access prepare_access(const AccessOptions& options, net::ListenerOptions& listener,
                      std::span<const net::Address> also = {});

}  // namespace framewire::service
