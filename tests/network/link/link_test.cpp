// Tests the line itself: loss, delay and rate must match its settings.

#include "network/link/link.hpp"

#include "network/link/descriptor.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace framewire::network {
namespace {

using namespace std::chrono_literals;

LinkSettings settings(const std::string& text) {
    LinkSettings read;
    read_link_settings(text, read);
    return read;
}

TEST(LinkSettings, ParsesValidAndRejectsInvalidSettings) {
    const auto read = settings("loss=5:delay=100:rate=2M:queue=50");
    EXPECT_EQ(read.loss, 0.05);
    EXPECT_EQ(read.delay_ms, 100);
    EXPECT_EQ(read.bits_per_second, 2e6);
    EXPECT_EQ(read.queue_ms, 50);
    EXPECT_EQ(settings("rate=300k").bits_per_second, 3e5);
    EXPECT_EQ(settings("").bits_per_second, 0);
    for (const std::string wrong : {"loss=101", "loss", "loss=", "rate=2X", "delay=-1", "speed=2", "loss=5:x"})
        EXPECT_THROW(settings(wrong), std::invalid_argument) << wrong;
}

// Line whose clock the test advances in steps of a millisecond.
struct Turned {
    LinkDirection line{7};
    Clock::time_point now{std::chrono::hours(1)};

    // Sends a packet of `bytes` every `every_ms` for `milliseconds`; returns the transit times of those that arrived.
    std::vector<double> send(int milliseconds, int every_ms, std::size_t bytes) {
        std::vector<double> times;
        for (int ms = 0; ms < milliseconds; ++ms, now += 1ms) {
            if (ms % every_ms == 0) {
                begun_.push_back(now);
                line.take({std::vector<std::uint8_t>(bytes), static_cast<int>(begun_.size()) - 1}, now);
            }
            while (const auto packet = line.leave(now))
                times.push_back(framewire::milliseconds(begun_[static_cast<std::size_t>(packet->owner)], now));
        }
        return times;
    }

private:
    std::vector<Clock::time_point> begun_;
};

TEST(LinkDirection, LosesTheConfiguredShareOfPackets) {
    Turned turned;
    turned.line.set(settings("loss=5"));
    const auto arrived = turned.send(20'000, 1, 100).size();
    EXPECT_EQ(arrived, 20'000u - static_cast<std::size_t>(turned.line.counts().lost));
    EXPECT_NEAR(static_cast<double>(turned.line.counts().lost) / 20'000, 0.05, 0.01);
    EXPECT_EQ(turned.line.counts().dropped, 0);
}

TEST(LinkDirection, DelaysPacketsAndKeepsTheirOrder) {
    Turned turned;
    turned.line.set(settings("delay=100"));
    for (const double time : turned.send(1'000, 1, 100)) EXPECT_EQ(time, 100);
    turned.line.set(settings("delay=20"));
    const auto times = turned.send(300, 1, 100);
    EXPECT_EQ(times.back(), 20) << "after the packets with the longer delay have arrived";
    EXPECT_EQ(turned.line.counts().left, 1280);
}

TEST(LinkDirection, LimitsTheRateAndDropsPacketsBeyondTheQueue) {
    Turned turned;
    turned.line.set(settings("rate=1M:queue=200"));
    const auto times = turned.send(10'000, 4, 1000);  // twice as much as the line can carry
    EXPECT_NEAR(static_cast<double>(turned.line.counts().left_bytes) * 8 / 10, 1e6, 2e4);
    EXPECT_NEAR(*std::max_element(times.begin(), times.end()), 200, 20);
    EXPECT_NEAR(static_cast<double>(turned.line.counts().dropped), 1250, 50);
    turned.line.set(settings("rate=4M:queue=200"));
    turned.send(200, 4, 1000);
    const auto quicker = turned.send(1'000, 4, 1000);
    EXPECT_NEAR(quicker.back(), 2, 1.1) << "the queue drains at the new rate and then stays empty";
    EXPECT_EQ(turned.line.counts().lost, 0);
}

// Fixture for each kind of line that this machine supports, with real connections.
class LinkTest : public testing::Test {
protected:
    void make_packets() {
        std::string why;
        link = make_packet_link(why);
        if (!link) GTEST_SKIP() << why;
    }
    void expect_delay_and_rate();

    sockaddr_in address_of(const std::string& text) {
        const auto colon = text.find(':');
        sockaddr_in address{};
        address.sin_family = AF_INET;
        inet_pton(AF_INET, text.substr(0, colon).c_str(), &address.sin_addr);
        address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(text.substr(colon + 1))));
        return address;
    }
    static std::uint16_t port_of(const Descriptor& socket) {
        sockaddr_in address{};
        socklen_t length = sizeof address;
        getsockname(socket.number(), reinterpret_cast<sockaddr*>(&address), &length);
        return ntohs(address.sin_port);
    }

    Descriptor bound(int type) {
        Descriptor socket(::socket(AF_INET, type, 0));
        const auto address = address_of(link->listen_address());
        EXPECT_EQ(bind(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
        const timeval limit{10, 0};
        setsockopt(socket.number(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        return socket;
    }

    // Returns both ends of a connection over the line, the server's first.
    std::pair<Descriptor, Descriptor> connect() {
        Descriptor listener;
        link->as_server([&] {
            listener = bound(SOCK_STREAM);
            listen(listener.number(), 1);
        });
        Descriptor viewer;
        const auto reached = address_of(link->reach(port_of(listener)));
        link->as_viewer([&] {
            viewer = Descriptor(socket(AF_INET, SOCK_STREAM, 0));
            const int on = 1;
            setsockopt(viewer.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            EXPECT_EQ(::connect(viewer.number(), reinterpret_cast<const sockaddr*>(&reached), sizeof reached), 0);
        });
        Descriptor server(accept(listener.number(), nullptr, nullptr));
        return {std::move(server), std::move(viewer)};
    }

    std::unique_ptr<Link> link;
};

std::size_t hear(const Descriptor& socket, std::size_t bytes) {
    std::vector<char> heard(bytes);
    const auto got = recv(socket.number(), heard.data(), bytes, MSG_WAITALL);
    return got > 0 ? static_cast<std::size_t>(got) : 0;
}

double bits_per_second(const Descriptor& from, const Descriptor& to, std::size_t bytes) {
    const auto sending = std::async(std::launch::async, [&] {
        const std::vector<char> said(bytes);
        return send(from.number(), said.data(), bytes, MSG_NOSIGNAL);
    });
    const auto begin = Clock::now();
    EXPECT_EQ(hear(to, bytes), bytes);
    return 8e3 * static_cast<double>(bytes) / milliseconds_since(begin);
}

void LinkTest::expect_delay_and_rate() {
    auto [server, viewer] = connect();
    link->set(settings("delay=40"));
    const auto begin = Clock::now();
    EXPECT_EQ(send(viewer.number(), "x", 1, 0), 1);
    EXPECT_EQ(hear(server, 1), 1u);
    EXPECT_EQ(send(server.number(), "y", 1, 0), 1);
    EXPECT_EQ(hear(viewer, 1), 1u);
    const auto there_and_back_ms = milliseconds_since(begin);
    EXPECT_GE(there_and_back_ms, 80);
    EXPECT_LT(there_and_back_ms, 480) << "even on a busy machine";

    link->set(Way::down, settings("rate=2M:delay=5"));
    link->set(Way::up, settings(""));
    EXPECT_LT(bits_per_second(server, viewer, 400'000), 2.2e6);
    link->set(Way::down, settings(""));
    EXPECT_GT(bits_per_second(server, viewer, 400'000), 4e6) << "the rate changes while the link is running";
    EXPECT_GE(link->counts(Way::down).left_bytes, 800'000);
    EXPECT_EQ(link->counts(Way::down).lost, 0);
}

TEST_F(LinkTest, PacketConnectionsHaveTheConfiguredDelayAndRate) {
    make_packets();
    if (link) expect_delay_and_rate();
}

TEST_F(LinkTest, ProxyConnectionsHaveTheConfiguredDelayAndRate) {
    link = make_proxy_link();
    expect_delay_and_rate();
}

// A connection that always has more to send must leave a later one its share of the line.
TEST_F(LinkTest, AProxySharesItsRateBetweenConnections) {
    link = make_proxy_link();
    auto [first_server, first_viewer] = connect();
    auto [second_server, second_viewer] = connect();
    link->set(Way::down, settings("rate=1M:queue=50"));
    constexpr std::size_t bytes = 200'000;
    const auto send_all = [](const Descriptor& from, std::size_t count) {
        return std::async(std::launch::async, [&from, count] {
            const std::vector<char> said(count);
            return send(from.number(), said.data(), count, MSG_NOSIGNAL);
        });
    };
    const auto greedy = send_all(first_server, 4 * bytes);
    EXPECT_EQ(hear(first_viewer, bytes / 4), bytes / 4) << "the first connection fills the line";
    const auto before = link->counts(Way::down).left_bytes;
    const auto later = send_all(second_server, bytes / 4);
    const auto first_hears = std::async(std::launch::async, [&] { return hear(first_viewer, 4 * bytes - bytes / 4); });
    EXPECT_EQ(hear(second_viewer, bytes / 4), bytes / 4);
    EXPECT_LT(link->counts(Way::down).left_bytes - before, static_cast<std::int64_t>(bytes))
        << "the first connection took most of the line";
}

TEST_F(LinkTest, ConnectionsSurvivePacketLoss) {
    make_packets();
    if (!link) return;
    link->set(settings("loss=20"));
    Descriptor server;
    link->as_server([&] { server = bound(SOCK_DGRAM); });
    const auto there = address_of(link->reach(port_of(server)));
    constexpr int packets = 200;  // all of them fit into a socket's buffer
    link->as_viewer([&] {
        const Descriptor viewer(socket(AF_INET, SOCK_DGRAM, 0));
        for (int i = 0; i < packets; ++i)
            sendto(viewer.number(), "packet", 6, 0, reinterpret_cast<const sockaddr*>(&there), sizeof there);
    });
    int arrived = 0;
    pollfd waiting{server.number(), POLLIN, 0};
    while (poll(&waiting, 1, 500) == 1) {
        hear(server, 6);
        ++arrived;
    }
    EXPECT_NEAR(arrived, 0.8 * packets, 0.12 * packets);
    auto [near, far] = connect();
    bits_per_second(near, far, 100'000);  // all bytes arrive
    EXPECT_GT(link->counts(Way::down).lost, 0);
}

}  // namespace
}  // namespace framewire::network
