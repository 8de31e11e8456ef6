#pragma once

#include "framewire/core/time/clock.hpp"
#include "framewire/net/limits/limited_log.hpp"
#include "framewire/net/limits/peer_attempts.hpp"
#include "framewire/net/tls/connection.hpp"
#include "framewire/net/tls/identity.hpp"
#include "framewire/net/tls/openssl.hpp"
#include "framewire/net/transport/connection.hpp"

#include <chrono>

namespace framewire::net {

/// Adds TLS to the connections that a server accepts, and limits handshakes. Use it from one thread.
class TlsListener {
public:
    /// Most connections per peer, and of all peers together, in `handshakes_window`. Handshakes are expensive, and
    /// existing viewers have priority.
    static constexpr int handshakes_allowed = 256, all_handshakes_allowed = 4096;
    /// The window starts with a peer's first connection.
    static constexpr std::chrono::seconds handshakes_window{10};

    /// `post` runs a task later on the connections' thread. Throws like server_context().
    TlsListener(const TlsIdentity& identity, TlsConnection::Post post);

    /// Returns a TLS connection over `carrier`. Returns null and closes `carrier` if its peer, or all peers together,
    /// connect too often. Connections from a trusted proxy belong to many clients and count only in total.
    ConnectionPointer over(ConnectionPointer carrier, Clock::time_point now, bool is_proxy = false);
    /// Logs how many refusals were suppressed. Call it periodically.
    void tell_left_out(Clock::time_point now) { refusals_.tell_left_out(now); }

private:
    static constexpr std::size_t peers_known = 4096;

    ContextPointer context_;
    TlsConnection::Options options_;
    PeerAttempts handshakes_{handshakes_allowed, handshakes_window, peers_known};
    PeerAttempts all_handshakes_{all_handshakes_allowed, handshakes_window, 1};
    LimitedLog refusals_{LogLevel::info, "TLS connections refused"};
};

}  // namespace framewire::net
