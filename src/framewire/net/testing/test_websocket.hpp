#pragma once

#include "framewire/net/websocket/connection.hpp"

#include <string>
#include <system_error>

namespace framewire::net::testing {

/// RFC 6455's own example.
inline const std::string websocket_key = "dGhlIHNhbXBsZSBub25jZQ==";

/// Fields by which a browser asks for a WebSocket, beside those of every request.
inline const std::string upgrade_fields =
    "Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " +
    websocket_key + "\r\n";

/// The server's end answers a browser that asked so, while the loop runs; whether it is open then.
template <class ManualLoop>
bool accept_browser(WebSocketConnection& socket, ManualLoop& loop) {
    bool open = false;
    socket.accept({{"Host", "localhost"},
                   {"Connection", "Upgrade"},
                   {"Upgrade", "websocket"},
                   {"Sec-WebSocket-Version", "13"},
                   {"Sec-WebSocket-Key", websocket_key}},
                  [&](const std::error_code& error, std::size_t) { open = !error; });
    loop.run();
    return open;
}

}  // namespace framewire::net::testing
