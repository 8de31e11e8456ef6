#include "framewire/net/access/gate.hpp"

#include <fmt/format.h>

namespace framewire::net {

namespace {

// The reason is "too many", not "not allowed", because an honest viewer behind the same address should try again later.
ServerError too_many_failures() {
    return {Refusal::too_many_viewers, fmt::format("{} logins failed from its address within {} s, the limit",
                                                   Gate::failures_allowed, Gate::failures_window.count())};
}

}  // namespace

// A peer that has sent the right token within a day is not locked out, whatever its failures.
std::optional<ServerError> Gate::closed_to(const std::string& peer, Clock::time_point now) const {
    if (!failures_.exhausted(peer, now) || let_in_.exhausted(peer, now)) return std::nullopt;
    return too_many_failures();
}

std::optional<ServerError> Gate::check(const std::string& peer, std::string_view token, Clock::time_point now) {
    if (!token_.needed()) return std::nullopt;
    // Checked again here: a peer may have opened many connections before its failures reached the limit.
    if (auto why = closed_to(peer, now)) return why;
    if (token_.matches(token)) {
        let_in_.forget(peer);  // the day counts from the latest success
        let_in_.add(peer, now);
        return std::nullopt;
    }
    if (token.empty()) return ServerError{Refusal::not_allowed, "a token is needed (view --token-file FILE)"};
    if (failures_.exhausted(peer, now)) return too_many_failures();
    // Only a digest of a wrong token is stored. A repeated guess does not count as another failure.
    const auto digest = TokenCheck::digest_of(token);
    const auto guess = peer + ' ' + std::string(digest.begin(), digest.end());
    if (!wrong_tokens_.exhausted(guess, now)) {
        wrong_tokens_.add(guess, now);
        failures_.add(peer, now);
    }
    return ServerError{Refusal::not_allowed, "the token is wrong"};
}

}  // namespace framewire::net
