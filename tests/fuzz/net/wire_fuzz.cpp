// Fuzzes the parsers of bytes from a connection: a viewer's hello, a server's hello, or a server's messages to a
// viewer. They must refuse or parse the bytes, and never need more memory than the stream's shape allows.

#include "framewire/core/error.hpp"
#include "framewire/net/receiver.hpp"
#include "framewire/net/wire.hpp"

namespace {

using namespace framewire::net;

void receive(ByteSpan rest) {
    static ServerHello hello{.epoch = 1, .info = {{1, 13, 21, 3}, framewire::codec::Mode::exact, 20, {30, 1}, "fuzz"}};
    static Receiver receiver(hello);
    ++hello.epoch;
    receiver.restart(hello);
    while (rest.size() >= header_bytes) {
        const auto header = read_header(rest.first(header_bytes), receiver.max_packed_bytes());
        rest = rest.subspan(header_bytes);
        if (header.length_bytes > rest.size()) return;
        if (header.type == MessageType::clock || header.type == MessageType::answer) return;
        if (receiver.take(header.type, rest.first(header.length_bytes)) == Receiver::Outcome::ended) return;
        rest = rest.subspan(header.length_bytes);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // The first byte selects how the rest is parsed.
    if (size == 0) return 0;
    const ByteSpan rest(data + 1, size - 1);
    try {
        // Every parsed message can be serialised again.
        switch (data[0] % 8) {
            case 0: viewer_hello(read_viewer_hello(rest, wire_version)); break;
            case 1: server_hello(read_server_hello(rest)); break;
            case 2: read_error(rest); break;
            case 4: drawn_message(read_drawn(rest)); break;
            case 5: clock_message(read_clocks(rest)); break;
            case 6: control_message(read_control(rest)); break;
            case 7: answer_message(read_answer(rest)); break;
            default: receive(rest); break;
        }
    } catch (const framewire::Error& error) {
        if (error.code() != framewire::ErrorCode::source_lost) throw;
    }
    return 0;
}
