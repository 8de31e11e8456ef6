#pragma once

#include "framewire/net/transport/connection.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::net {

/// Reverse proxies whose X-Forwarded-For header is believed. Anybody can send that header, so it counts only on a
/// connection from one of these addresses, and only up to the entry that the last trusted proxy has added. Immutable
/// after construction.
class TrustedProxies {
public:
    /// Takes addresses and networks in CIDR notation: "10.0.0.5", "10.0.0.0/8", "::1", "fd00::/8". Throws Error{usage}
    /// if one of them is invalid. If the list is empty, no proxy is trusted.
    explicit TrustedProxies(const std::vector<std::string>& networks = {});

    /// Returns true if the other end of the connection is a trusted proxy.
    bool trusts(const Connection& connection) const;

    /// A client behind a trusted proxy.
    struct Client {
        std::string address;
        /// The key for limits per peer, see Connection::peer(): the address, or the /64 network of an IPv6 address.
        std::string peer;
    };
    /// Returns the client on whose behalf a trusted proxy sends a request: the rightmost address in its X-Forwarded-For
    /// fields that is not a trusted proxy, or the leftmost address if all of them are. Returns nullopt if the header is
    /// missing or its last entry is not an address; the request is then the proxy's own. `forwarded_for` holds the
    /// header fields in the order in which they were received.
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
