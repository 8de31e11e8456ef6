#include "framewire/net/access/trusted_proxies.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/parameters/numbers.hpp"

#include <arpa/inet.h>

#include <algorithm>

namespace framewire::net {

namespace {

using Bytes16 = std::array<std::uint8_t, 16>;
// Bytes that precede the IPv4 address in an IPv4-mapped IPv6 address (RFC 4291, 2.5.5.2).
constexpr std::size_t mapped_bytes = 12;

// Returns true for an IPv4-mapped IPv6 address (RFC 4291, 2.5.5.2).
bool is_mapped(const Bytes16& address) {
    return std::all_of(address.begin(), address.begin() + 10, [](auto byte) { return byte == 0; }) &&
           address[10] == 0xff && address[11] == 0xff;
}

// Parses a numeric IPv4 or IPv6 address. IPv4 addresses are returned in mapped form.
std::optional<Bytes16> parse_ip(std::string_view text) {
    const std::string terminated(text);
    Bytes16 address{};
    if (::inet_pton(AF_INET6, terminated.c_str(), address.data()) == 1) return address;
    address[10] = address[11] = 0xff;
    if (::inet_pton(AF_INET, terminated.c_str(), address.data() + mapped_bytes) == 1) return address;
    return std::nullopt;
}

// IPv4 addresses are written without the mapping prefix.
std::string to_text(const Bytes16& address) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (is_mapped(address))
        ::inet_ntop(AF_INET, address.data() + mapped_bytes, text.data(), text.size());
    else
        ::inet_ntop(AF_INET6, address.data(), text.data(), text.size());
    return text.data();
}

// The peer is an IPv6 /64 network or a single IPv4 address, the same rule as in tcp/peer.cpp.
TrustedProxies::Client client_at(Bytes16 address) {
    TrustedProxies::Client client{to_text(address), {}};
    if (!is_mapped(address)) std::fill(address.begin() + 8, address.end(), std::uint8_t{0});
    client.peer = to_text(address);
    return client;
}

bool is_port(std::string_view text) {
    std::uint16_t port = 0;
    return read_number(text, port) == std::errc{};
}

// Proxies write "192.0.2.1", "192.0.2.1:4711", "2001:db8::1", "[2001:db8::1]" or "[2001:db8::1]:4711".
std::optional<Bytes16> parse_entry(std::string_view text) {
    constexpr std::string_view blanks = " \t";
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    text = text.substr(0, text.find_last_not_of(blanks) + 1);
    if (text.starts_with('[')) {
        const auto end = text.find(']');
        if (end == text.npos) return std::nullopt;
        const auto rest = text.substr(end + 1);
        if (!rest.empty() && (rest.front() != ':' || !is_port(rest.substr(1)))) return std::nullopt;
        return parse_ip(text.substr(1, end - 1));
    }
    if (auto address = parse_ip(text)) return address;
    // A single colon separates an IPv4 address from its port. Several colons without brackets are an invalid IPv6
    // address.
    const auto colon = text.rfind(':');
    if (colon == text.npos || text.find(':') != colon || !is_port(text.substr(colon + 1))) return std::nullopt;
    return parse_ip(text.substr(0, colon));
}

}  // namespace

TrustedProxies::TrustedProxies(const std::vector<std::string>& networks) {
    for (const auto& text : networks) {
        const auto slash = std::min(text.find('/'), text.size());
        const auto address = parse_ip(std::string_view(text).substr(0, slash));
        const int most = address && is_mapped(*address) ? 32 : 128;
        int bits = most;
        if (!address ||
            (slash < text.size() &&
             (read_number(std::string_view(text).substr(slash + 1), bits) != std::errc{} || bits < 0 || bits > most)))
            fail(ErrorCode::usage, "'{}' is no address of a proxy; 10.0.0.5, 10.0.0.0/8, ::1 and fd00::/8 are", text);
        // Prefixes are counted in the mapped form, so an IPv4 /8 is stored as /104.
        networks_.push_back({*address, bits + 128 - most});
    }
}

bool TrustedProxies::trusts(const Bytes16& address) const {
    return std::ranges::any_of(networks_, [&](const Network& network) {
        for (int bit = 0; bit < network.prefix_bits; bit += 8) {
            const auto at = static_cast<std::size_t>(bit / 8);
            // The last byte of the prefix may be used only in part.
            const int unused = std::max(0, 8 - (network.prefix_bits - bit));
            if ((address[at] ^ network.address[at]) >> unused != 0) return false;
        }
        return true;
    });
}

bool TrustedProxies::trusts(const Connection& connection) const {
    if (networks_.empty()) return false;
    const auto address = parse_entry(connection.name());
    return address && trusts(*address);
}

std::optional<TrustedProxies::Client> TrustedProxies::client_of(
    const std::vector<std::string_view>& forwarded_for) const {
    std::optional<Bytes16> found;
    // Read from right to left: each trusted proxy appends the address it received the request from.
    for (auto field = forwarded_for.rbegin(); field != forwarded_for.rend(); ++field)
        for (auto rest = *field;;) {
            const auto comma = rest.rfind(',');
            const auto address = parse_entry(comma == rest.npos ? rest : rest.substr(comma + 1));
            // A trusted proxy writes valid addresses, so everything to the left of an invalid one is untrusted.
            if (!address) return found ? std::optional(client_at(*found)) : std::nullopt;
            found = address;
            if (!trusts(*address)) return client_at(*found);
            if (comma == rest.npos) break;
            rest = rest.substr(0, comma);
        }
    return found ? std::optional(client_at(*found)) : std::nullopt;
}

}  // namespace framewire::net
