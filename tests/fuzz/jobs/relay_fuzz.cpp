// Fuzzes a relay with a server's messages in a changed order: omitted, repeated, truncated, with changed bytes, or
// random. The relay must hold and forward what arrives in order and unchanged.

#include "fuzz/net/sent_messages.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/jobs/relay.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <thread>
#include <utility>
#include <vector>

namespace framewire::relay_fuzz {
namespace {

using namespace net;

// Bytes that a server sends after its hello, derived from a fuzzer input.
struct Script {
    Bytes said;
    bool as_sent = true;  // true while everything is in order and unchanged
    std::size_t taken = 0;
};

void say(Bytes& said, MessageType type, ByteSpan content) {
    said.push_back(static_cast<std::uint8_t>(type));
    for (int shift = 0; shift < 32; shift += 8) said.push_back(static_cast<std::uint8_t>(content.size() >> shift));
    said.insert(said.end(), content.begin(), content.end());
}

Script script_of(const std::vector<fuzz::SentMessage>& messages, const std::uint8_t* data, std::size_t size) {
    Script script;
    const auto byte = [&]() -> std::size_t { return size > 0 ? --size, *data++ : 0; };
    for (int steps = 0; size > 0 && steps < 30; ++steps) {
        const auto what = byte();
        auto message = messages[script.taken % messages.size()];
        const bool next = what % 8 <= 2;
        if (next && script.taken == messages.size()) break;
        script.taken += next;
        script.as_sent = script.as_sent && next;
        switch (what % 8) {
            default: break;  // sends the next message unchanged
            case 3: message = messages[byte() % messages.size()]; break;
            case 4: script.taken = std::min(script.taken + 1, messages.size()); continue;
            case 5:
                if (!message.content.empty())
                    message.content[(byte() << 8 | byte()) % message.content.size()] ^=
                        static_cast<std::uint8_t>(byte());
                break;
            case 6: message.content.resize((byte() << 8 | byte()) % (message.content.size() + 1)); break;
            case 7: {
                message.type = static_cast<MessageType>(byte());
                const auto length = std::min(byte(), size);
                message.content.assign(data, data + length);
                data += length, size -= length;
                break;
            }
        }
        say(script.said, message.type, message.content);
    }
    return script;
}

// TCP socket on loopback. Running out of sockets is a failure of the machine, not a finding.
class Socket {
public:
    explicit Socket(int descriptor) : descriptor_(descriptor) {
        if (descriptor_ < 0) std::exit(1);
    }
    ~Socket() { ::close(descriptor_); }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;

    int get() const { return descriptor_; }

private:
    int descriptor_;
};

class Upstream {
public:
    Upstream() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t length = sizeof address;
        auto* any = reinterpret_cast<sockaddr*>(&address);
        if (::bind(listener_.get(), any, length) != 0 || ::listen(listener_.get(), 1) != 0 ||
            ::getsockname(listener_.get(), any, &length) != 0)
            std::exit(1);
        port_ = ntohs(address.sin_port);
    }

    int port() const { return port_; }

    // Sends the script to the first client, then reads until that client closes, so that the connection is not reset.
    void serve(const Script& script) const {
        const Socket connection(::accept(listener_.get(), nullptr, nullptr));
        const ServerHello hello{
            .epoch = 7,
            .info = {fuzz::SmallStream::shape, codec::Mode::exact, fuzz::SmallStream::threshold, {30, 1}, "fuzz"}};
        send(connection, server_hello(hello));
        send(connection, script.said);
        ::shutdown(connection.get(), SHUT_WR);
        std::array<std::uint8_t, 4096> heard{};
        while (::recv(connection.get(), heard.data(), heard.size(), 0) > 0) {
        }
    }

private:
    static void send(const Socket& connection, ByteSpan bytes) {
        while (!bytes.empty()) {
            const auto sent = ::send(connection.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) return;
            bytes = bytes.subspan(static_cast<std::size_t>(sent));
        }
    }

    Socket listener_;
    int port_ = 0;
};

}  // namespace
}  // namespace framewire::relay_fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace framewire;
    using namespace framewire::relay_fuzz;
    set_log_output({.least = LogLevel::off});
    static const auto messages = fuzz::sent_by_a_server();
    const auto script = script_of(messages, data, size);
    const Upstream upstream;
    const std::jthread serving([&] { upstream.serve(script); });
    jobs::BroadcastOptions options{.input = {.source = fmt::format("tcp://127.0.0.1:{}", upstream.port()),
                                             .reconnect = std::chrono::milliseconds(0)}};
    options.server.listen = {"127.0.0.1", 0};
    try {
        jobs::RelayJob relay(options);
        try {
            relay.run();
        } catch (const Error& error) {
            if (error.code() != ErrorCode::source_lost) throw;
        }
        const auto& shape = fuzz::SmallStream::shape;
        if (relay.info().shape != shape) std::abort();
        if (script.as_sent && script.taken > 0) {
            HostImage held(shape);
            if (relay.copy_picture(held.view()).version == 0) std::abort();
            const auto& sent = messages[script.taken - 1].picture;
            if (!std::equal(sent.begin(), sent.end(), std::as_const(held).view().data())) std::abort();
        }
    } catch (const Error& error) {
        if (error.code() != ErrorCode::source_lost && error.code() != ErrorCode::no_input) std::abort();
    }
    return 0;
}
