#pragma once

#include "framewire/core/time/clock.hpp"
#include "framewire/net/access/gate.hpp"
#include "framewire/net/http/request/raw_request.hpp"
#include "framewire/net/http/site.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::net::http {

/// Who may ask what: what keeps pages of others, and those without the token, from a server's routes. For one thread.
class Admission {
public:
    struct Rules {
        bool tls = false;                  ///< pages of this server are https://
        std::vector<std::string> hosts{};  ///< names it goes by beside localhost, this machine's and numeric addresses
    };
    /// `gate` lives longer.
    Admission(Rules rules, Gate& gate);

    /// The request is meant for this server, and not for one whose name leads here by somebody's trick. Throws Refused.
    void check_host(const RawRequest& request) const;
    /// Whether it has the right token, or none is needed. Throws Refused where it has a wrong one, and where its peer
    /// is not heard.
    bool let_in(const RawRequest& request, const std::string& peer, Clock::time_point now);
    /// The same of a token that came otherwise: in a WebSocket's first message.
    bool let_in(std::string_view token, const std::string& peer, Clock::time_point now);
    /// No page of another server asks. Throws Refused.
    void check_origin(const RawRequest& request) const;
    /// All of what a route asks for. Throws Refused.
    void check_access(const RawRequest& request, const Route& route, bool let_in) const;

private:
    Rules rules_;
    Gate& gate_;
};

}  // namespace framewire::net::http
