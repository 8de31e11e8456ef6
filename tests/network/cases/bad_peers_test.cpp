// Tests peers that break the protocol in every possible way at the same time, beside a valid viewer, which must lose
// nothing.

#include "network/cases/rig.hpp"

#include "framewire/net/testing/test_tcp.hpp"
#include "framewire/net/wire.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <functional>
#include <random>
#include <thread>
#include <vector>

namespace framewire::network {
namespace {

using namespace std::chrono_literals;
using net::Bytes;
using net::ByteSpan;
using net::testing::RawConnection;
using net::testing::RawListener;

Bytes joined(const Bytes& first, const Bytes& second) {
    auto all = first;
    all.insert(all.end(), second.begin(), second.end());
    return all;
}

Bytes random_bytes(std::mt19937& random, std::size_t most) {
    Bytes bytes(1 + random() % most);
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
    return bytes;
}

Bytes message(int type, std::uint32_t length, const Bytes& content) {
    Bytes bytes{static_cast<std::uint8_t>(type)};
    for (int byte = 0; byte < 4; ++byte) bytes.push_back(static_cast<std::uint8_t>(length >> 8 * byte));
    return joined(bytes, content);
}

// Returns one message sequence for each kind of bad viewer.
std::vector<Bytes> bad_words(std::mt19937& random) {
    const auto hello = net::viewer_hello({.stream = "main"});
    const Bytes preamble(hello.begin(), hello.begin() + net::preamble_bytes);
    std::vector<Bytes> all;
    for (std::size_t cut = 1; cut < hello.size(); ++cut)
        all.emplace_back(hello.begin(), hello.begin() + static_cast<std::ptrdiff_t>(cut));
    for (int i = 0; i < 30; ++i) all.push_back(random_bytes(random, 2000));
    for (int i = 0; i < 30; ++i) all.push_back(joined(preamble, random_bytes(random, 300)));
    for (int i = 0; i < 30; ++i) all.push_back(joined(hello, random_bytes(random, 300)));
    for (const std::uint32_t length : {0u, 66u, 1u << 20, 0x7fffffffu, 0xffffffffu})
        for (int type = 0; type < 256; type += type < 8 ? 1 : 31) {
            all.push_back(joined(preamble, message(type, length, Bytes(200, 'x'))));
            all.push_back(joined(hello, message(type, length, Bytes(200, 'x'))));
        }
    all.push_back(joined(hello, hello));  // a hello is repeated
    all.push_back(joined(Bytes(hello.begin() + net::preamble_bytes, hello.end()),
                         preamble));  // the parts of a hello are reordered
    all.push_back(net::viewer_hello({.stream = "another"}));
    all.push_back(joined(hello, net::drawn_message({.messages = 1'000'000,
                                                    .version = 1})));  // acknowledges messages that were never sent
    all.push_back(joined(hello, net::control_message("brightness=100")));
    auto of_another_version = hello;
    of_another_version[4] ^= 0x80;
    all.push_back(of_another_version);
    return all;
}

constexpr auto between_bad_peers = 2ms;

// Behaves as a bad viewer until stopped, with short connections one after the other and long ones that stay open.
void misbehave(std::uint16_t port, std::uint32_t seed, const std::atomic<bool>& stop, std::atomic<int>& done) {
    std::mt19937 random(seed);
    const auto words = bad_words(random);
    std::vector<RawConnection> patient;
    const auto from = [&] { return static_cast<std::uint8_t>(2 + random() % 200); };
    while (!stop) {
        auto peer = RawConnection::connect(port, 4096, from());
        const auto& said = words[random() % words.size()];
        switch (random() % 5) {
            case 0: break;  // sends nothing, like a flood of connections or a slow peer
            case 1:         // reads slowly: one byte of what it is sent
                peer.send(net::viewer_hello({.stream = "main"}));
                peer.read(1, 10ms);
                break;
            case 2:  // sends in small pieces
                for (std::size_t i = 0; i < std::min<std::size_t>(said.size(), 20); ++i)
                    if (!peer.send(ByteSpan(said).subspan(i, 1))) break;
                break;
            default: peer.send(said); break;
        }
        if (random() % 2) patient.push_back(std::move(peer));
        if (patient.size() > 40) patient.clear();
        ++done;
        std::this_thread::sleep_for(between_bad_peers);
    }
}

std::size_t lines_with(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++count;
    return count;
}

TEST(BadPeers, AreRejectedAndDoNotAffectAValidViewer) {
    const e2e::TemporaryFolder folder;
    Camera camera(folder, "cam", "160x120", 10);
    Served served({"-i", camera.source()});
    const auto begun_bytes = resident_bytes(served.program().id());
    const double seconds = scaled(6.0, 60.0);
    Crowd good({served.url() + "," + camera.log(), "viewers=0", "checking=1", "window=3000",
                fmt::format("seconds={}", seconds)});
    // The valid viewer connects first, because the server does not accept all peers.
    ASSERT_TRUE(served.program().wait_for_err(" joined")) << served.program().err();
    std::atomic<bool> stop = false;
    std::atomic<int> done = 0;
    std::vector<std::jthread> bad;
    for (std::uint32_t seed = 1; seed <= 3; ++seed)
        bad.emplace_back([&, seed] { misbehave(served.port(), seed, stop, done); });
    const auto seen = good.result();
    stop = true;
    bad.clear();

    const auto& viewer = seen["viewers"][0];
    EXPECT_EQ(viewer["errors"], Json::array());
    EXPECT_EQ(viewer["connections"], 1);
    EXPECT_GT(viewer["checked"], 5 * seconds);
    EXPECT_EQ(viewer["failed"].size(), 0u) << viewer["outside"] << " bytes outside the bound";
    EXPECT_EQ(viewer["skipped"], 0);
    const auto log = served.program().err();
    tell("bad peers", done, "");
    tell("log lines of the server", static_cast<double>(lines_with(log, "\n")), "");
    tell("growth of the server's memory", (resident_bytes(served.program().id()) - begun_bytes) / 1e6, "MB");
    EXPECT_GT(done, 100);
    EXPECT_GT(lines_with(log, "refused:"), 0u);
    for (const std::string kind : {"refused:", "dropped:", " joined", " left"})  // 20 lines in 10 seconds
        EXPECT_LE(lines_with(log, kind), 20 * (2 + static_cast<std::size_t>(seconds / 10))) << kind;
    served.program().signal(SIGINT);
    const auto ended = served.program().wait();
    EXPECT_EQ(ended.code, 128 + SIGINT) << ended.err;
}

// Sends messages of a bad server to a viewer, after the server's hello or instead of it.
TEST(BadPeers, AViewerReportsAnyInvalidServerMessage) {
    const auto hello =
        net::server_hello({.epoch = 1, .info = {{1, 48, 64, 3}, codec::Mode::exact, 20, {10, 1}, "a bad one"}});
    std::mt19937 random(5);
    Bytes picture;
    net::begin_state(net::MessageType::picture, {.version = 1}, {}, picture);
    picture.insert(picture.end(), 100, 0x5a);
    net::end_state(picture);
    const std::vector<Bytes> said{
        random_bytes(random, 500),
        Bytes(hello.begin(), hello.end() - 3),
        joined(hello, hello),
        joined(hello, random_bytes(random, 500)),
        joined(hello, picture),
        joined(hello, Bytes(picture.begin(), picture.end() - 50)),
        joined(hello, message(2, 0xffffffff, {})),
        joined(hello, message(3, 40, Bytes(40))),
        joined(hello, message(9, 4, Bytes(4))),
        joined(hello, message(6, 3, {1, 1, 'x'})),
    };
    for (std::size_t i = 0; i < said.size(); ++i) {
        SCOPED_TRACE(i);
        RawListener listener;
        e2e::Program viewer(view_command({fmt::format("tcp://127.0.0.1:{}", listener.port()), "--reconnect", "0"}));
        auto connection = listener.accept();
        ASSERT_TRUE(connection);
        connection->send(said[i]);
        connection->close();
        const auto ended = viewer.wait(20s);
        EXPECT_TRUE(ended.code == 66 || ended.code == 69) << ended.code << ended.err;
        EXPECT_NE(ended.err.find("error: "), std::string::npos) << ended.err;
    }
}

}  // namespace
}  // namespace framewire::network
