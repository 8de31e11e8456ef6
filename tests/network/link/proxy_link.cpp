// Carries segments of TCP connections between listeners on loopback and the servers that they stand for. If a direction
// has no room, the bytes stay in the sender's socket, so nothing is lost.

#include "network/link/descriptor.hpp"
#include "network/link/line.hpp"
#include "network/link/link.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <map>
#include <stdexcept>
#include <thread>
#include <utility>

namespace framewire::network {
namespace {

constexpr std::size_t piece_bytes = 1400;
constexpr int socket_bytes = 32 * 1024;  // size of the kernel's buffers, in addition to the line's own queue
constexpr std::size_t untaken_limit_bytes = 64 * 1024;

sockaddr_in on_loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
}

void make_small_and_quick(int socket) {
    const int on = 1;
    setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &socket_bytes, sizeof socket_bytes);
    setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &socket_bytes, sizeof socket_bytes);
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK);
}

// One end of a proxied connection, with the bytes that the line has delivered but the end's socket has not taken.
struct End {
    Descriptor socket;
    std::vector<std::uint8_t> untaken;
    bool heard_all = false;  // the end sends nothing more
    bool closing = false;    // the end receives nothing more
};

struct Carried {
    End server, viewer;
};

class ProxyLink final : public Link {
public:
    void set(Way way, const LinkSettings& settings) override {
        auto without_loss = settings;
        without_loss.loss = 0;
        line_.set(way, without_loss);
    }
    LinkCounts counts(Way way) const override { return line_.counts(way); }
    bool can_lose() const override { return false; }
    std::string listen_address() const override { return "127.0.0.1:0"; }
    std::vector<std::string> at_servers(std::vector<std::string> command) const override { return command; }
    std::vector<std::string> at_viewers(std::vector<std::string> command) const override { return command; }
    void as_server(const std::function<void()>& act) const override { act(); }
    void as_viewer(const std::function<void()>& act) const override { act(); }
    std::string reach(std::uint16_t port) override;

private:
    void carry(const std::stop_token& stop);
    void come(const Descriptor& listener, std::uint16_t port);
    bool may_take(const End& from, const End& to, Way way) {
        return !from.heard_all && to.untaken.size() < untaken_limit_bytes && line_.has_room(way);
    }
    void take_in_turns(Way way);
    bool take(End& from, const End& to, Way way, int owner);
    void give(Way way);
    static void put(End& end);

    Line line_;
    std::mutex mutex_;
    std::vector<std::pair<Descriptor, std::uint16_t>>
        listeners_;                   // listeners and their servers' ports; guarded by the mutex
    std::map<int, Carried> carried_;  // used only by the thread
    int come_ = 0;
    std::array<int, 2> last_{};  // owner of the last segment per direction
    std::jthread thread_{[this](const std::stop_token& stop) { carry(stop); }};
};

std::string ProxyLink::reach(std::uint16_t port) {
    Descriptor listener(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    auto address = on_loopback(0);
    socklen_t length = sizeof address;
    if (bind(listener.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        listen(listener.number(), 256) != 0 ||
        getsockname(listener.number(), reinterpret_cast<sockaddr*>(&address), &length) != 0)
        throw std::runtime_error("the proxy cannot listen");
    const std::lock_guard lock(mutex_);
    listeners_.emplace_back(std::move(listener), port);
    return "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
}

void ProxyLink::come(const Descriptor& listener, std::uint16_t port) {
    for (;;) {
        Descriptor viewer(accept4(listener.number(), nullptr, nullptr, SOCK_CLOEXEC));
        if (viewer.number() < 0) return;
        Descriptor server(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        make_small_and_quick(server.number());
        make_small_and_quick(viewer.number());
        const auto address = on_loopback(port);
        if (connect(server.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
            errno != EINPROGRESS)
            continue;  // the viewer's connection is closed
        auto& carried = carried_[++come_];
        carried.server.socket = std::move(server);
        carried.viewer.socket = std::move(viewer);
    }
}

void ProxyLink::carry(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        std::vector<pollfd> waiting;
        {
            const std::lock_guard lock(mutex_);
            for (const auto& [listener, port] : listeners_) {
                come(listener, port);
                waiting.push_back({listener.number(), POLLIN, 0});
            }
        }
        take_in_turns(Way::down), take_in_turns(Way::up);
        for (auto& [owner, one] : carried_) {
            if (may_take(one.server, one.viewer, Way::down)) waiting.push_back({one.server.socket.number(), POLLIN, 0});
            if (may_take(one.viewer, one.server, Way::up)) waiting.push_back({one.viewer.socket.number(), POLLIN, 0});
        }
        give(Way::down), give(Way::up);
        std::erase_if(carried_, [](const auto& one) {
            const auto& [server, viewer] = one.second;
            return server.closing && viewer.closing && server.untaken.empty() && viewer.untaken.empty();
        });
        auto pause = line_.pause();
        constexpr long longest_ns = 2'000'000;  // interval at which sockets that took nothing are tried again
        pause.tv_nsec = std::min(pause.tv_nsec, longest_ns);
        ppoll(waiting.data(), waiting.size(), &pause, nullptr);
    }
}

// Takes one segment of each connection in turn, starting after the last connection: otherwise, the first connection
// that always has more to send would leave no room for the others.
void ProxyLink::take_in_turns(Way way) {
    auto& last = last_[static_cast<std::size_t>(way)];
    auto next = carried_.upper_bound(last);
    for (std::size_t idle = 0; idle < carried_.size(); ++next) {
        if (next == carried_.end()) next = carried_.begin();
        auto& [owner, one] = *next;
        const bool took =
            way == Way::down ? take(one.server, one.viewer, way, owner) : take(one.viewer, one.server, way, owner);
        if (took) last = owner;
        idle = took ? 0 : idle + 1;
    }
}

// Takes a segment from a connection; returns true if there was one and the line had room for it. The end of the input
// is an empty segment, which travels after the others.
bool ProxyLink::take(End& from, const End& to, Way way, int owner) {
    if (!may_take(from, to, way)) return false;
    Packet piece{std::vector<std::uint8_t>(piece_bytes), owner};
    const auto got = recv(from.socket.number(), piece.bytes.data(), piece.bytes.size(), 0);
    if (got < 0 && (errno == EAGAIN || errno == ENOTCONN || errno == EINTR)) return false;
    piece.bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    from.heard_all = got <= 0;
    line_.take(way, std::move(piece));
    return true;
}

void ProxyLink::give(Way way) {
    while (const auto piece = line_.leave(way)) {
        const auto found = carried_.find(piece->owner);
        if (found == carried_.end()) continue;
        auto& end = way == Way::down ? found->second.viewer : found->second.server;
        end.closing = end.closing || piece->bytes.empty();
        end.untaken.insert(end.untaken.end(), piece->bytes.begin(), piece->bytes.end());
    }
    for (auto& [owner, one] : carried_) put(way == Way::down ? one.viewer : one.server);
}

void ProxyLink::put(End& end) {
    if (!end.untaken.empty()) {
        const auto put = send(end.socket.number(), end.untaken.data(), end.untaken.size(), MSG_NOSIGNAL);
        if (put > 0) end.untaken.erase(end.untaken.begin(), end.untaken.begin() + put);
        if (put < 0 && errno != EAGAIN && errno != ENOTCONN) end.untaken.clear(), end.heard_all = end.closing = true;
    }
    if (end.closing && end.untaken.empty()) shutdown(end.socket.number(), SHUT_WR);
}

}  // namespace

std::unique_ptr<Link> make_proxy_link() { return std::make_unique<ProxyLink>(); }

}  // namespace framewire::network
