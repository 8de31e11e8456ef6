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

/// Checks tokens and limits guesses. A guess is a wrong token that its peer has not sent before within the window, so a
/// program that repeats an outdated token makes one guess, and a missing token is not a guess. A peer that reaches the
/// limit is refused until the window ends, unless the right token came from its address within the last day: many
/// clients can share one address, and one of them must not lock out the others. Memory is bounded. Not thread-safe.
class Gate {
public:
    /// A peer may make this many guesses within `failures_window`.
    static constexpr int failures_allowed = 5;
    static constexpr std::chrono::seconds failures_window{10};
    /// A peer that sent the right token is not locked out for this long.
    static constexpr std::chrono::hours known_for{24};

    /// If `token` is empty, every peer is let in.
    explicit Gate(std::string_view token) : token_(token) {}

    /// Returns true if peers have to send a token.
    bool needs_token() const { return token_.needed(); }
    /// Returns why the peer is refused before it sends a token, or nullopt if it may send one.
    std::optional<ServerError> closed_to(const std::string& peer, Clock::time_point now) const;
    /// Returns why the peer is refused with this token, or nullopt if it is let in. Records a wrong token as a failure.
    std::optional<ServerError> check(const std::string& peer, std::string_view token, Clock::time_point now);

private:
    static constexpr std::size_t peers_known = 4096;

    TokenCheck token_;
    PeerAttempts failures_{failures_allowed, failures_window, peers_known};
    PeerAttempts wrong_tokens_{1, failures_window, failures_allowed* peers_known};  // by peer and digest
    PeerAttempts let_in_{1, known_for, peers_known};                                // peers that sent the right token
};

}  // namespace framewire::net
