#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace framewire::net {

/// One end of a TCP connection: a host name or a numeric IPv4 or IPv6 address without brackets, and a port.
struct Address {
    std::string host;
    std::uint16_t port = 0;
};

/// The transport that carries a stream.
enum class Scheme { tcp, tls, websocket, websocket_tls };

/// Returns true if the transport runs over TLS.
inline bool encrypted(Scheme scheme) { return scheme == Scheme::tls || scheme == Scheme::websocket_tls; }

/// Address of one stream: tcp://HOST:PORT/NAME, or the same with tls://, ws:// or wss://.
struct StreamAddress {
    Address server;
    std::string stream;
    Scheme scheme = Scheme::tcp;
};

/// The stream that servers offer and viewers request if no name is given.
inline constexpr std::string_view default_stream = "main";

/// Parses "HOST:PORT"; an IPv6 address is in brackets. Port 0 is allowed: a server then takes any free port. Throws
/// Error{usage} if the text is invalid.
Address parse_address(std::string_view text);

/// Returns true if the address is certain to be local: a numeric loopback address or "localhost". Other names are not
/// resolved; they are treated as reachable from other machines.
bool is_loopback(const Address& address);

/// Parses "tcp://HOST:PORT" or "tcp://HOST:PORT/NAME", or the same with tls://, ws:// or wss://. The default name is
/// default_stream. Throws Error{usage} if the text is invalid or the port is 0.
StreamAddress parse_stream_address(std::string_view url);

/// Throws Error{usage} unless is_stream_name(name).
void validate_stream_name(std::string_view name);
/// Returns true if the name has 1 to 64 characters from A-Z a-z 0-9 . _ - and is neither "." nor "..".
bool is_stream_name(std::string_view name);

/// Formats an address such as "127.0.0.1:7878" or "[::1]:7878".
std::string to_string(const Address& address);
/// Formats a stream address such as "tcp://127.0.0.1:7878/main".
std::string to_string(const StreamAddress& address);

}  // namespace framewire::net
