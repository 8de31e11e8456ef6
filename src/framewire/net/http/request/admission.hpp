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

/// Decides who may request what. It protects a server's routes against requests without the token, against pages of
/// other origins (CSRF) and against DNS rebinding. Use it from one thread.
class Admission {
public:
    /// Settings of the server that the checks need.
    struct Rules {
        /// The server uses TLS, so the origin of its own pages is https.
        bool tls = false;
        /// Accepted names, in addition to localhost, this machine's name and numeric addresses.
        std::vector<std::string> hosts{};
    };
    /// `gate` must outlive this object.
    Admission(Rules rules, Gate& gate);

    /// Checks that the Host field names this server (protection against DNS rebinding). Throws Refused.
    void check_host(const RawRequest& request) const;
    /// Returns true if the request has the right token or none is needed, and false if it has no token. Throws Refused
    /// if the token is wrong or the peer is locked out.
    bool let_in(const RawRequest& request, const std::string& peer, Clock::time_point now);
    /// Like above, for a token in the first message of a WebSocket. Returns false if the token is wrong.
    bool let_in(std::string_view token, const std::string& peer, Clock::time_point now);
    /// Checks that the request does not come from a page of another origin. Throws Refused.
    void check_origin(const RawRequest& request) const;
    /// Checks everything that the route requires of a request. Throws Refused.
    void check_access(const RawRequest& request, const Route& route, bool let_in) const;

private:
    Rules rules_;
    Gate& gate_;
};

}  // namespace framewire::net::http
