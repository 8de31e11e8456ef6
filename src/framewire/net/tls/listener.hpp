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

/// Puts TLS between a server and the connections that come to it. For one thread.
class TlsListener {
public:
    /// What handshakes cost the server is so bounded: those of one peer, and those of all, for viewers who are there
    /// come first.
    static constexpr int handshakes_allowed = 256, all_handshakes_allowed = 4096;
    static constexpr std::chrono::seconds handshakes_window{10};

    /// Throws as server_context() does.
    TlsListener(const TlsIdentity& identity, TlsConnection::Post post);

    /// The connection over this one; none where its peer, or all together, have come too often, which is cut off.
    /// A trusted proxy's handshakes are those of many clients, and count only among all.
    ConnectionPointer over(ConnectionPointer carrier, Clock::time_point now, bool is_proxy = false);
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
