#pragma once

#include "framewire/net/websocket.hpp"

#include <string>
#include <system_error>

namespace framewire::net::testing {

/// The example key of RFC 6455, 1.3.
inline const std::string websocket_key = "dGhlIHNhbXBsZSBub25jZQ==";

/// Header fields with which a browser requests a WebSocket, in addition to those of every request.
inline const std::string upgrade_fields =
    "Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " +
    websocket_key + "\r\n";

/// Answers a browser's handshake while the loop runs. Returns true if the WebSocket is open afterwards.
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
