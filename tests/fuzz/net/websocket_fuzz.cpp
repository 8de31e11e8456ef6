// Fuzzes a WebSocket with everything that a browser can send, in pieces: valid and invalid frames. All stream bytes
// that the server takes must have been in the frames, and neither end may wait forever.

#include "fuzz/net/posting_loop.hpp"

#include "framewire/net/testing/test_websocket.hpp"
#include "framewire/net/websocket.hpp"

#include <array>
#include <cstdlib>

namespace framewire::websocket_fuzz {
namespace {

// Reads until the connection has ended, and sometimes writes.
struct Reader {
    net::WebSocketConnection& socket;
    std::array<std::uint8_t, 300> piece{};
    std::size_t bytes = 0;
    bool over = false, writing = false;
    net::Bytes words = net::Bytes(200, 7);

    void read() {
        socket.read_some(piece, [this](const std::error_code& error, std::size_t count) {
            over = error || count == 0;
            bytes += count;
            if (over) return;
            if (!std::exchange(writing, true)) write();
            read();
        });
    }
    void write() {
        const net::ByteSpan pieces[] = {words, words};
        socket.write(pieces, {}, [this](const std::error_code&, std::size_t) { writing = false; });
    }
};

}  // namespace
}  // namespace framewire::websocket_fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace framewire;
    if (size < 2) return 0;
    fuzz::PostingLoop loop;
    const auto peer = std::make_shared<fuzz::SpokenConnection::Peer>();
    peer->says = net::ByteSpan(data + 1, size - 1);
    peer->piece_bytes = std::size_t{1} << (data[0] % 12);
    net::WebSocketConnection socket(std::make_unique<fuzz::SpokenConnection>(loop, peer),
                                    {.post = [&](std::function<void()> task) { loop.post(std::move(task)); },
                                     .text = data[0] >= 128,
                                     .message_limit_bytes = 1000});
    if (!net::testing::accept_browser(socket, loop)) std::abort();
    websocket_fuzz::Reader reader{socket};
    reader.read();
    loop.run();
    if (!reader.over || reader.bytes > size) std::abort();
    return 0;
}
