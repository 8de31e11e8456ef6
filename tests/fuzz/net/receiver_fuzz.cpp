// Fuzzes a viewer with a server's messages in a changed order: omitted, repeated, truncated, with changed bytes, or
// random. If the viewer takes all messages in order and unchanged, it must hold the server's reference.

#include "fuzz/net/sent_messages.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/net/receiver.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace framewire::receiver_fuzz {
namespace {

using namespace net;

using Message = fuzz::SentMessage;

// Returns a hello with a new epoch each time, so that no earlier state is continued.
ServerHello next_hello() {
    static std::uint64_t epoch = 0;
    return {.epoch = ++epoch,
            .info = {fuzz::SmallStream::shape, codec::Mode::exact, fuzz::SmallStream::threshold, {30, 1}, "fuzz"}};
}

class Viewer {
public:
    // Starts a new connection of an existing viewer, because creating a decoder takes longer than reading many
    // messages.
    Viewer() { receiver_.restart(next_hello()); }

    // Takes a message. After an invalid one, resets the viewer as for a new connection.
    void take(const Message& message, bool as_sent) {
        try {
            receiver_.take(message.type, message.content);
        } catch (const Error& error) {
            if (error.code() != ErrorCode::source_lost || (as_sent && in_order_)) throw;
            receiver_.restart(next_hello());
            next = 0;
            in_order_ = true;  // true from the next keyframe on
            return;
        }
        if (receiver_.threshold() > fuzz::SmallStream::threshold) std::abort();
        in_order_ = in_order_ && as_sent;
        if (in_order_ && !std::equal(message.picture.begin(), message.picture.end(), receiver_.picture().data()))
            std::abort();
    }
    void lose_order() { in_order_ = false; }

    std::size_t next = 0;  // index of the next message in order

private:
    static inline Receiver receiver_{next_hello()};
    bool in_order_ = true;
};

}  // namespace
}  // namespace framewire::receiver_fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace framewire;
    using namespace framewire::receiver_fuzz;
    set_log_output({.least = LogLevel::off});
    static const auto messages = fuzz::sent_by_a_server();
    receiver_fuzz::Viewer viewer;
    const auto byte = [&]() -> std::size_t { return size > 0 ? --size, *data++ : 0; };
    for (int steps = 0; size > 0 && steps < 200; ++steps) {
        const auto what = byte();
        auto message = messages[viewer.next % messages.size()];
        switch (what % 8) {
            default:  // takes the next message unchanged
                if (viewer.next == messages.size()) return 0;
                ++viewer.next;
                viewer.take(message, true);
                continue;
            case 3: message = messages[byte() % messages.size()]; break;  // takes another message
            case 4: viewer.next = std::min(viewer.next + 1, messages.size()), viewer.lose_order(); continue;
            case 5:
                if (message.content.empty()) continue;
                message.content[(byte() << 8 | byte()) % message.content.size()] ^= static_cast<std::uint8_t>(byte());
                break;
            case 6: message.content.resize((byte() << 8 | byte()) % (message.content.size() + 1)); break;
            case 7: {
                message.type = static_cast<net::MessageType>(byte());
                if (message.type == net::MessageType::clock || message.type == net::MessageType::answer) return 0;
                const auto length = std::min(byte(), size);
                message.content.assign(data, data + length);
                data += length, size -= length;
                break;
            }
        }
        viewer.take(message, false);
    }
    return 0;
}
