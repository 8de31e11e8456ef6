#include "framewire/net/access/gate.hpp"

#include <fmt/format.h>

namespace framewire::net {

// With the reason of those who are too many: another time it may be different, also for an honest viewer behind the
// same address, which should try again.
std::optional<ServerError> Gate::closed_to(const std::string& peer, Clock::time_point now) const {
    if (!failures_.exhausted(peer, now)) return std::nullopt;
    return ServerError{Refusal::too_many_viewers,
                       fmt::format("{} logins failed from its address within {} s, the limit", failures_allowed,
                                   failures_window.count())};
}

std::optional<ServerError> Gate::check(const std::string& peer, std::string_view token, Clock::time_point now) {
    if (!token_.needed()) return std::nullopt;
    // Those who came before the peer had failed too often gain nothing by it.
    if (auto why = closed_to(peer, now)) return why;
    if (token_.matches(token)) return std::nullopt;
    failures_.add(peer, now);
    return ServerError{Refusal::not_allowed,
                       token.empty() ? "a token is needed (view --token-file FILE)" : "the token is wrong"};
}

}  // namespace framewire::net
