// Fuzzes a server with many simultaneous peers that send arbitrary bytes, read or do not read, connect and disconnect,
// beside a valid viewer. The valid viewer must hold the server's reference after every step, and the bytes queued for
// the others must stay limited.

#include "fuzz/net/small_stream.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/net/receiver.hpp"
#include "framewire/net/sessions.hpp"
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

// Viewer that follows the protocol and immediately takes everything that it receives.
class GoodViewer {
public:
    GoodViewer(testing::ManualLoop& loop, ConnectionPointer connection, Receiver& receiver)
        : peer_(loop, std::move(connection)), receiver_(receiver) {
        peer_.say(viewer_hello({.stream = "main"}));
        // The hello comes first; a keyframe may follow it.
        heard_ = peer_.hear();
        if (heard_.size() < preamble_bytes + header_bytes) std::abort();
        const ByteSpan front(heard_);
        const auto header = read_header(front.subspan(preamble_bytes, header_bytes), 0);
        const auto hello_bytes = preamble_bytes + header_bytes + header.length_bytes;
        receiver_.restart(read_server_hello(front.subspan(preamble_bytes + header_bytes, header.length_bytes)));
        heard_.erase(heard_.begin(), heard_.begin() + static_cast<std::ptrdiff_t>(hello_bytes));
    }

    void hear() {
        const auto more = peer_.hear();
        heard_.insert(heard_.end(), more.begin(), more.end());
        for (ByteSpan rest(heard_); !rest.empty();) {
            const auto header = read_header(rest.first(header_bytes), receiver_.max_packed_bytes());
            if (header.type != MessageType::clock)
                receiver_.take(header.type, rest.subspan(header_bytes, header.length_bytes));
            messages_ += header.type == MessageType::picture || header.type == MessageType::changes;
            rest = rest.subspan(header_bytes + header.length_bytes);
        }
        heard_.clear();
        if (std::exchange(reported_, messages_) < messages_)
            peer_.say(drawn_message({.messages = messages_, .version = receiver_.state().version}));
        if (peer_.closed()) std::abort();
    }
    void require(HostView<const std::uint8_t> reference) const {
        if (!std::equal(reference.data(), reference.data() + reference.shape().bytes(), receiver_.picture().data()))
            std::abort();
    }

private:
    testing::MemoryPeer peer_;
    Receiver& receiver_;
    Bytes heard_;
    std::uint64_t messages_ = 0, reported_ = 0;
};

// Objects that all servers of a run share, because creating codecs takes longer than processing everything that the
// peers send.
struct Lasting {
    fuzz::SmallStream stream;
    Receiver receiver{{.epoch = stream.state.epoch(), .info = stream.state.info()}};
};

class ServedPeers {
public:
    explicit ServedPeers(Lasting& lasting) : stream_(lasting.stream), receiver_(lasting.receiver) { step(); }

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
        peers_.clear();
        if (sessions_.cut_off(served_) < 1) std::abort();  // at least the valid viewer
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
    fuzz::SmallStream& stream_;
    Receiver& receiver_;
    Sessions sessions_{{.viewers = 4,
                        .pending_connections = {4, 2, milliseconds(5'000), milliseconds(10'000)},
                        .viewer_deadlines = {milliseconds(10'000), milliseconds(1'000)},
                        .pinned_bytes = pinned_limit_bytes},
                       loop_};
    Stream& served_ = sessions_.add("main", stream_.state);
    GoodViewer good_{loop_, connection("a good one", std::size_t{1} << 20), receiver_};
    std::deque<std::unique_ptr<testing::MemoryPeer>> peers_;
};

}  // namespace
}  // namespace framewire::sessions_fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace framewire;
    using namespace framewire::sessions_fuzz;
    set_log_output({.least = LogLevel::off});
    static Lasting lasting;
    ServedPeers server(lasting);
    const auto byte = [&]() -> std::size_t { return size > 0 ? --size, *data++ : 0; };
    const auto hello = net::viewer_hello({.stream = "main"});
    for (int steps = 0; size > 0 && steps < 40; ++steps) {
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
