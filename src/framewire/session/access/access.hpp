#pragma once

#include "framewire/net/listener.hpp"

#include <string>

namespace framewire::session {

/// Who may watch what is served.
struct AccessOptions {
    /// The token that viewers need. Empty: on loopback none; elsewhere one that is kept between runs (kept_file()
    /// "token"), and made where there is none yet.
    std::string token_file{};
    bool open = false;  ///< no token, wherever it is served
    /// With a certificate signed by itself, made where none is kept yet (kept_file() "tls.pem").
    bool tls = false;
    /// Or with this one: PEM files, the chain from the server's certificate on and its key. Both or neither.
    std::string certificate_file{}, key_file{};
};

/// What came of them.
struct Access {
    std::string token_file{};   ///< the one in use; empty: there is no token
    bool token_made = false;    ///< just now: whoever started it should be told, once
    std::string fingerprint{};  ///< of the certificate; empty: no TLS
};

/// Completes what a listener needs to know. Warns of what others on the network could read or watch. Throws
/// Error{usage} on options that do not go together, and as net::read_token_file(), net::kept_file(),
/// net::keep_secret(), net::make_identity() and net::check_identity() do.
Access prepare_access(const AccessOptions& options, net::ListenerOptions& listener);

}  // namespace framewire::session
