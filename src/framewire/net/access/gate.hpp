#pragma once

#include "framewire/core/time/clock.hpp"
#include "framewire/net/access/token.hpp"
#include "framewire/net/limits/peer_attempts.hpp"
#include "framewire/net/wire/wire.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace framewire::net {

/// Who may come in at all: those who know the token. A peer that failed too often is turned away for a while, right
/// token or not. Memory is bounded.
class Gate {
public:
    static constexpr int failures_allowed = 5;
    static constexpr std::chrono::seconds failures_window{10};

    /// An empty token: everybody may.
    explicit Gate(std::string_view token) : token_(token) {}

    bool needs_token() const { return token_.needed(); }
    /// Why the peer is not even heard; nothing when it is.
    std::optional<ServerError> closed_to(const std::string& peer, Clock::time_point now) const;
    /// Why it does not get in with this token; nothing when it does.
    std::optional<ServerError> check(const std::string& peer, std::string_view token, Clock::time_point now);

private:
    static constexpr std::size_t peers_known = 4096;

    TokenCheck token_;
    PeerAttempts failures_{failures_allowed, failures_window, peers_known};
};

}  // namespace framewire::net
