// Many peers of a server at once who say what they like, read or do not, come and go, beside a good viewer: that one
// holds what the server holds after every step, and what waits for the others stays within its limits.

#include "fuzz/small_stream.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/net/session/sessions.hpp"
#include "framewire/net/stream/receiver.hpp"
#include "framewire/net/testing/test_memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <string>
#include <utility>

namespace framewire::sessions_fuzz {
namespace {

using namespace net;
using std::chrono::milliseconds;

constexpr std::size_t pinned_limit_bytes = 64 * 1024;
constexpr std::size_t most_peers = 12;

// A viewer who keeps to the protocol, and takes what it is sent at once.
class GoodViewer {
public:
    GoodViewer(testing::ManualLoop& loop, ConnectionPointer connection) : peer_(loop, std::move(connection)) {
        peer_.say(client_hello("main"));
        const auto hello = peer_.hear();
        if (hello.size() < preamble_bytes + header_bytes) std::abort();
        receiver_.emplace(read_server_hello(ByteSpan(hello).subspan(preamble_bytes + header_bytes)));
    }

    void hear() {
        const auto heard = peer_.hear();
        for (ByteSpan rest(heard); !rest.empty();) {
            const auto header = read_header(rest.first(header_bytes), receiver_->max_packed_bytes());
            ended_ |= receiver_->take(header.type, rest.subspan(header_bytes, header.length_bytes)) ==
                      Receiver::Outcome::ended;
            rest = rest.subspan(header_bytes + header.length_bytes);
        }
        if (peer_.closed() && !ended_) std::abort();
    }
    void require(HostView<const std::uint8_t> reference) const {
        if (!std::equal(reference.data(), reference.data() + reference.shape().bytes(), receiver_->picture().data()))
            std::abort();
    }
    bool ended() const { return ended_; }

private:
    testing::MemoryPeer peer_;
    std::optional<Receiver> receiver_;
    bool ended_ = false;
};

class Server {
public:
    Server() { step(); }

    // Its peers go first.
    void come(std::size_t who) {
        if (peers_.size() == most_peers) leave(who);
        peers_.push_back(std::make_unique<testing::MemoryPeer>(
            loop_, connection("peer " + std::to_string(who % 3), who % 2 ? 300 : std::size_t{1} << 20)));
    }
    void leave(std::size_t who) {
        if (peers_.empty()) return;
        peers_.erase(peers_.begin() + static_cast<std::ptrdiff_t>(who % peers_.size()));
        loop_.run();
    }
    void say(std::size_t who, const Bytes& words) {
        if (!peers_.empty()) peers_[who % peers_.size()]->say(words);
    }
    void hear(std::size_t who) {
        if (!peers_.empty()) peers_[who % peers_.size()]->hear();
    }
    void close(std::size_t who) {
        if (peers_.empty()) return;
        peers_[who % peers_.size()]->close();
        loop_.run();
    }
    void pass(milliseconds time) {
        loop_.pass(time);
        sessions_.check_deadlines();
        loop_.run();
        good_.hear();
    }
    void step() {
        stream_.step();
        sessions_.publish(served_);
        loop_.run();
        good_.hear();
        good_.require(stream_.reference());
        const auto metrics = sessions_.metrics();
        if (metrics.pinned_bytes > static_cast<std::int64_t>(pinned_limit_bytes) || metrics.viewers > 4) std::abort();
    }
    void end() {
        sessions_.end(served_, "");
        loop_.run();
        good_.hear();
        if (!good_.ended()) std::abort();
        good_.require(stream_.reference());
        peers_.clear();
        sessions_.cut_off(served_);
        loop_.run();
        if (sessions_.metrics().viewers != 0 || sessions_.metrics().pinned_bytes != 0) std::abort();
    }

private:
    ConnectionPointer connection(const std::string& peer, std::size_t capacity) {
        auto [near, far] = testing::connection_pair(loop_, peer, capacity);
        sessions_.come(std::move(near));
        loop_.run();
        return std::move(far);
    }

    testing::ManualLoop loop_;
    fuzz::SmallStream stream_;
    Sessions sessions_{{.viewers = 4,
                        .guests = {4, 2, milliseconds(5'000), milliseconds(10'000)},
                        .viewer_deadlines = {milliseconds(10'000), milliseconds(1'000)},
                        .pinned_bytes = pinned_limit_bytes},
                       loop_};
    Stream& served_ = sessions_.add("main", stream_.state);
    GoodViewer good_{loop_, connection("a good one", std::size_t{1} << 20)};
    std::deque<std::unique_ptr<testing::MemoryPeer>> peers_;
};

}  // namespace
}  // namespace framewire::sessions_fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace framewire;
    using namespace framewire::sessions_fuzz;
    set_log_output({.least = LogLevel::off});
    Server server;
    const auto byte = [&]() -> std::size_t { return size > 0 ? --size, *data++ : 0; };
    const auto hello = net::client_hello("main");
    for (int steps = 0; size > 0 && steps < 100; ++steps) {
        const auto what = byte();
        const auto who = what / 16;
        switch (what % 16) {
            case 0:
            case 1: server.come(who); break;
            case 2: server.leave(who); break;
            case 3:
            case 4: server.say(who, hello); break;
            case 5:
                server.say(
                    who, net::Bytes(hello.begin(), hello.begin() + static_cast<std::ptrdiff_t>(byte() % hello.size())));
                break;
            case 6:
            case 7:
            case 8: {
                const auto length = std::min(byte(), size);
                server.say(who, net::Bytes(data, data + length));
                data += length, size -= length;
                break;
            }
            case 9:
            case 10: server.hear(who); break;
            case 11: server.close(who); break;
            case 12: server.pass(std::chrono::milliseconds(byte() * 50)); break;
            default: server.step(); break;
        }
    }
    server.end();
    return 0;
}
