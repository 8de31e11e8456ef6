#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace framewire::net {

/// One end of a TCP connection: a name, or an IPv4 or IPv6 address without brackets, and a port.
struct Address {
    std::string host;
    std::uint16_t port = 0;
};

/// What carries a stream.
enum class Scheme { tcp, tls, websocket, websocket_tls };

/// Whether it is TLS that carries it, at the bottom.
inline bool encrypted(Scheme scheme) { return scheme == Scheme::tls || scheme == Scheme::websocket_tls; }

/// Where a stream is found: tcp://HOST:PORT/NAME, or tls://, ws:// or wss:// in its place.
struct StreamAddress {
    Address server;
    std::string stream;
    Scheme scheme = Scheme::tcp;
};

/// The stream a server offers and a viewer asks for when nobody names one.
inline constexpr std::string_view default_stream = "main";

/// Reads "HOST:PORT", an IPv6 address standing in brackets. Port 0 means any free one and is for servers.
/// Throws Error{usage}.
Address parse_address(std::string_view text);

/// Whether only programs of this machine reach it, as far as that can be told without looking a name up: one of
/// loopback's addresses, or "localhost".
bool is_loopback(const Address& address);

/// Reads "tcp://HOST:PORT" or "tcp://HOST:PORT/NAME", or the same with tls://, ws:// or wss://. Throws Error{usage}.
StreamAddress parse_stream_address(std::string_view url);

/// Throws Error{usage} unless `name` is 1 to 64 of the characters A-Z a-z 0-9 . _ - and neither "." nor "..".
void validate_stream_name(std::string_view name);
bool is_stream_name(std::string_view name);

/// "127.0.0.1:7878", "[::1]:7878".
std::string to_string(const Address& address);
/// "tcp://127.0.0.1:7878/main".
std::string to_string(const StreamAddress& address);

}  // namespace framewire::net
