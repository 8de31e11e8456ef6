#pragma once

#include "framewire/net/server.hpp"

#include <string>

namespace framewire::service {

/// Access control of a server.
struct AccessOptions {
    /// Optional. File with the token that viewers need. Empty: no token on loopback; otherwise the token that is kept
    /// between runs (kept_file() "token") is used, and created if it does not exist.
    std::string token_file{};
    /// No token, even beyond loopback.
    bool open = false;
    /// Use TLS with a self-signed certificate, created if none has been kept yet (kept_file() "tls.pem").
    bool tls = false;
    /// Use TLS with this certificate: PEM files of the chain, starting with the server's certificate, and of its key.
    /// Both or neither.
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
/// Throws Error{usage} if options do not fit together, and as net::read_token_file(), net::kept_file(),
/// net::keep_secret(), net::make_identity() and net::check_identity() do.
Access prepare_access(const AccessOptions& options, net::ListenerOptions& listener);

}  // namespace framewire::service
