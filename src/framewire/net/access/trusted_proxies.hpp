#pragma once

#include "framewire/net/transport/connection.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::net {

/// The reverse proxies whose X-Forwarded-For is believed. Anybody can send that header, so it counts only on a
/// connection from one of these addresses, and in it only up to the entry that the last trusted proxy has added.
class TrustedProxies {
public:
    /// From addresses and networks: "10.0.0.5", "10.0.0.0/8", "::1", "fd00::/8". Throws Error{usage}. Empty: no proxy
    /// is trusted.
    explicit TrustedProxies(const std::vector<std::string>& networks = {});

    /// Returns true if the other end of the connection is a trusted proxy.
    bool trusts(const Connection& connection) const;

    struct Client {
        std::string address;
        std::string peer;  ///< as Connection::peer(): of an IPv6 address the first 64 bits
    };
    /// Returns the client on whose behalf a trusted proxy sends a request: the rightmost address in its X-Forwarded-For
    /// fields that is no trusted proxy, or the leftmost if all are. Nothing if the header is missing, or has no address
    /// where one is needed: then the request is the proxy's own.
    std::optional<Client> client_of(const std::vector<std::string_view>& forwarded_for) const;

private:
    using Bytes16 = std::array<std::uint8_t, 16>;  // IPv4 addresses are mapped into IPv6
    struct Network {
        Bytes16 address;
        int prefix_bits;
    };
    bool trusts(const Bytes16& address) const;

    std::vector<Network> networks_;
};

}  // namespace framewire::net
