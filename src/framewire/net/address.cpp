#include "framewire/net/address.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/parameters.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <iterator>

namespace framewire::net {

namespace {

// The longest host name in textual form; its wire form has 255 octets (RFC 1035, 2.3.4).
constexpr std::size_t max_host_bytes = 253;
constexpr std::size_t max_stream_name_bytes = 64;

struct NamedScheme {
    Scheme scheme;
    std::string_view prefix;
};
// In the order of the enumerators: to_string() indexes this table by them.
constexpr NamedScheme schemes[] = {
    {Scheme::tcp, "tcp://"}, {Scheme::tls, "tls://"}, {Scheme::websocket, "ws://"}, {Scheme::websocket_tls, "wss://"}};

// Returns true for a numeric IPv6 address without brackets.
bool is_ipv6(std::string_view text) {
    in6_addr address{};
    return ::inet_pton(AF_INET6, std::string(text).c_str(), &address) == 1;
}

// "::1:7878" can be ::1 with a port, or one whole address. The message suggests only an address that is valid.
[[noreturn]] void refuse_without_brackets(std::string_view text, std::string_view host, std::string_view digits) {
    std::uint16_t port = 0;
    const bool has_port = is_ipv6(host) && read_number(digits, port) == std::errc{};
    if (has_port || is_ipv6(text))
        fail(ErrorCode::usage, "the address '{}' contains an IPv6 address without brackets: write [{}]:{}", text,
             has_port ? host : text, has_port ? digits : "7878");
    fail(ErrorCode::usage,
         "the address '{}' has several colons: write HOST:PORT, with an IPv6 address in brackets, such as [::1]:7878",
         text);
}

}  // namespace

// Grammar: HOST ":" PORT or "[" IPV6 "]" ":" PORT. Each kind of mistake has its own message with a valid example.
Address parse_address(std::string_view text) {
    const bool has_brackets = text.starts_with('[');
    const auto end = has_brackets ? text.find(']') : 0;  // colons in brackets belong to the host
    if (end == text.npos) fail(ErrorCode::usage, "the address '{}' has a '[' without a ']': write [::1]:7878", text);
    const auto colon = text.rfind(':');
    if (colon == text.npos || colon < end) {
        const bool is_host = has_brackets ? end + 1 == text.size() && is_ipv6(text.substr(1, end - 1)) : false;
        fail(ErrorCode::usage, "the address '{}' has no port: write HOST:PORT, such as {}:7878", text,
             is_host ? text : "127.0.0.1");
    }
    auto host = text.substr(0, colon);
    const auto digits = text.substr(colon + 1);
    if (has_brackets && colon == end + 1)
        host = host.substr(1, host.size() - 2);
    else if (!has_brackets && host.find(':') != std::string_view::npos)
        refuse_without_brackets(text, host, digits);
    const bool plain = std::all_of(host.begin(), host.end(),
                                   [](char c) { return c > ' ' && c != 0x7f && c != '/' && c != '[' && c != ']'; });
    if (host.empty() || host.size() > max_host_bytes || !plain)
        fail(ErrorCode::usage, "the address '{}' has no valid host: write HOST:PORT, such as 127.0.0.1:7878", text);

    Address address{std::string(host), 0};
    if (read_number(digits, address.port) != std::errc{})
        fail(ErrorCode::usage, "the address '{}' has an invalid port '{}'; allowed: 0 to 65535", text, digits);
    return address;
}

bool is_loopback(const Address& address) {
    in_addr v4{};
    in6_addr v6{};
    if (::inet_pton(AF_INET, address.host.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == IN_LOOPBACKNET;
    if (::inet_pton(AF_INET6, address.host.c_str(), &v6) == 1) return IN6_IS_ADDR_LOOPBACK(&v6);
    return address.host == "localhost";
}

StreamAddress parse_stream_address(std::string_view url) {
    const auto* found = std::find_if(std::begin(schemes), std::end(schemes),
                                     [&](const NamedScheme& known) { return url.starts_with(known.prefix); });
    if (found == std::end(schemes))
        fail(ErrorCode::usage,
             "'{}' is not a stream address: write tcp://HOST:PORT or tcp://HOST:PORT/NAME, with tcp://, tls://, ws:// "
             "or wss://",
             url);
    const auto rest = url.substr(found->prefix.size());
    const auto slash = rest.find('/');
    StreamAddress address{parse_address(rest.substr(0, slash)), std::string(default_stream), found->scheme};
    if (address.server.port == 0)
        fail(ErrorCode::usage, "the stream address '{}' has port 0; allowed: 1 to 65535", url);
    if (slash != std::string_view::npos && slash + 1 < rest.size()) address.stream = rest.substr(slash + 1);
    validate_stream_name(address.stream);
    return address;
}

bool is_stream_name(std::string_view name) {
    constexpr auto allowed = [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
               c == '-';
    };
    // "." and ".." as path segments are removed when a URL is resolved (RFC 3986, 5.2.4).
    if (name == "." || name == "..") return false;
    return !name.empty() && name.size() <= max_stream_name_bytes && std::all_of(name.begin(), name.end(), allowed);
}

void validate_stream_name(std::string_view name) {
    if (!is_stream_name(name))
        fail(ErrorCode::usage,
             "the stream name '{}' is not allowed: 1 to {} characters of A-Z a-z 0-9 . _ -, other than . and ..", name,
             max_stream_name_bytes);
}

std::string to_string(const Address& address) {
    const bool brackets = address.host.find(':') != std::string::npos;
    return fmt::format("{}{}{}:{}", brackets ? "[" : "", address.host, brackets ? "]" : "", address.port);
}

std::string to_string(const StreamAddress& address) {
    const auto prefix = schemes[static_cast<std::size_t>(address.scheme)].prefix;
    return fmt::format("{}{}/{}", prefix, to_string(address.server), address.stream);
}

}  // namespace framewire::net
