#include "framewire/net/session/guests.hpp"

#include "framewire/core/error.hpp"
#include "framewire/net/client.hpp"
#include "framewire/net/server.hpp"
#include "framewire/net/testing/test_hello.hpp"
#include "framewire/net/testing/test_server.hpp"
#include "framewire/net/testing/test_stream.hpp"
#include "framewire/net/testing/test_tcp.hpp"
#include "kit/captured_log.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

namespace framewire::net {
namespace guests_test {

using namespace std::chrono_literals;
using testing::eventually;
using testing::expect_code;
using testing::expect_equal;
using testing::greeting_of;
using testing::hello_for;
using testing::on_any_port;
using testing::RawConnection;
using testing::refusal_in;
using testing::TestStream;

TEST(Server, RefusesViewersAboveTheLimit) {
    TestStream stream;
    auto options = on_any_port();
    options.viewers_limit = 2;
    Server server(stream.state, options);
    stream.step();
    std::vector<Client> there;
    for (int i = 0; i < 2; ++i) there.emplace_back(server.address());
    expect_code(ErrorCode::no_input, "2 viewers are there already", [&] { Client one_more(server.address()); });
    there.pop_back();
    EXPECT_TRUE(eventually([&] { return server.metrics().viewers == 1; }));
    Client in_its_place(server.address());
    EXPECT_TRUE(in_its_place.next());
    EXPECT_EQ(server.metrics().refused, 1);
}

TEST(Server, RefusesViewersOfUnknownStreams) {
    TestStream stream;
    auto options = on_any_port();
    options.stream = "yard";
    Server server(stream.state, options);
    auto elsewhere = server.address();
    elsewhere.stream = "garden";
    expect_code(ErrorCode::no_input, "there is no stream 'garden' here; there is 'yard'",
                [&] { Client client(elsewhere); });
    EXPECT_EQ(Client(server.address()).info().source, "a test");
}

TEST(Server, RejectsInvalidHellos) {
    TestStream stream;
    auto options = on_any_port();
    options.handshake_deadline = 1h;
    options.keep_alive = 100ms;
    Server server(stream.state, options);
    stream.step();
    const auto port = server.address().server.port;
    const auto hello = hello_for("main");
    const auto changed = [&](std::size_t at, std::uint8_t byte) {
        auto bytes = hello;
        bytes[at] = byte;
        return bytes;
    };
    // Each viewer receives the reason as an error message and is disconnected.
    const std::vector<Bytes> wrong{Bytes(64, 'x'),    changed(0, 'X'),  changed(4, 3),   changed(6, 2),
                                   changed(10, 0xff), changed(11, 200), changed(12, '/')};
    for (const auto& bytes : wrong) {
        auto peer = RawConnection::connect(port);
        peer.send(bytes);
        Bytes answer;
        EXPECT_TRUE(peer.read_to_the_end(answer));
        EXPECT_EQ(refusal_in(answer).reason, Refusal::bad_request) << refusal_in(answer).text;
    }
    EXPECT_EQ(server.metrics().refused, static_cast<std::int64_t>(wrong.size()));

    // A second hello is a protocol violation.
    auto talker = RawConnection::connect(port);
    talker.send(hello);
    EXPECT_FALSE(talker.read_exactly(preamble_bytes).empty());
    talker.send(hello);
    Bytes ignored;
    EXPECT_TRUE(talker.read_to_the_end(ignored));
    EXPECT_TRUE(eventually([&] { return server.metrics().dropped == 1; }));

    Client honest(server.address());
    EXPECT_TRUE(honest.next());
    expect_equal(honest.picture(), stream.reference());
}

TEST(Server, RefusesViewersWithALateHello) {
    TestStream stream;
    auto options = on_any_port();
    options.handshake_deadline = 300ms;
    const Server server(stream.state, options);
    const auto port = server.address().server.port;
    const auto hello = hello_for("main");
    constexpr auto pause_of_the_slow_one = 100ms;
    auto longer = hello;
    longer[7] = 0xff;  // the announced length
    auto silent = RawConnection::connect(port), slow = RawConnection::connect(port),
         unfinished = RawConnection::connect(port);
    unfinished.send(longer);
    for (const auto byte : hello) {
        if (!slow.send({&byte, 1})) break;
        std::this_thread::sleep_for(pause_of_the_slow_one);
    }
    for (auto* late : {&silent, &slow, &unfinished}) {
        Bytes answer;
        EXPECT_TRUE(late->read_to_the_end(answer));
        EXPECT_EQ(refusal_in(answer).text, "no whole hello within 300 ms");
    }
}

TEST(Server, LimitsPendingConnections) {
    TestStream stream;
    auto options = on_any_port();
    options.greeting_limit = 10;
    options.greeting_limit_per_peer = 4;
    options.handshake_deadline = 1h;
    Server server(stream.state, options);
    const auto port = server.address().server.port;
    const auto come = [&](std::vector<RawConnection>& silent, int count, std::uint8_t from) {
        for (int i = 0; i < count; ++i) silent.push_back(RawConnection::connect(port, 0, from));
    };
    const auto expect_told = [](RawConnection& peer, const std::string& why) {
        Bytes answer;
        EXPECT_TRUE(peer.read_to_the_end(answer));
        const auto refusal = refusal_in(answer);
        EXPECT_EQ(refusal.reason, Refusal::too_many_viewers);
        EXPECT_EQ(refusal.text.substr(0, why.size()), why);
    };
    const auto expect_held = [](RawConnection& peer) {
        EXPECT_TRUE(peer.read(1, 20ms).empty());
        EXPECT_FALSE(peer.closed());
    };
    std::vector<RawConnection> first, second, third;
    come(first, 20, 1);
    EXPECT_TRUE(eventually([&] { return server.metrics().refused == 16; }));
    for (int i = 0; i < 16; ++i) expect_told(first[i], "4 connections from its address are without a hello already");
    come(second, 4, 2);
    come(third, 2, 3);
    for (int i = 16; i < 20; ++i) expect_held(first[i]);
    come(third, 1, 3);
    expect_told(first[16], "10 connections are without a hello already");
    for (int i = 17; i < 20; ++i) expect_held(first[i]);
    for (auto* silent : {&second, &third})
        for (auto& peer : *silent) expect_held(peer);
    EXPECT_EQ(server.metrics().refused, 17);
}

// Silent connections do not exclude others, however many there are, from one address or from many.
TEST(Server, SilentConnectionsDoNotExcludeOthers) {
    TestStream stream;
    stream.step();
    auto options = on_any_port();
    options.viewers_limit = 2;
    options.handshake_deadline = 1h;
    Server server(stream.state, options);
    const auto port = server.address().server.port;
    const auto hello = hello_for("main");
    std::vector<RawConnection> silent;
    for (const int addresses : {1, 100}) {
        // A viewer with a slow hello, during a flood from other addresses.
        auto slow = RawConnection::connect(port, 0, 2);
        ASSERT_TRUE(slow.send(ByteSpan(hello).first(3)));
        for (int i = 0; i < 200; ++i)
            silent.push_back(RawConnection::connect(port, 0, static_cast<std::uint8_t>(100 + i % addresses)));
        EXPECT_TRUE(slow.send(ByteSpan(hello).subspan(3)));
        const auto greeting = greeting_of(stream.state);
        EXPECT_EQ(slow.read_exactly(greeting.size()), greeting);
        // A viewer from an address of the flood.
        auto quick = RawConnection::connect(port, 0, 100);
        ASSERT_TRUE(quick.send(hello));
        EXPECT_EQ(quick.read_exactly(greeting.size()), greeting);
        slow.close();
        quick.close();
        EXPECT_TRUE(eventually([&] { return server.metrics().viewers == 0; }));
    }
    EXPECT_EQ(server.metrics().viewers_total, 4);
}

TEST(Server, LimitsLogLinesAboutPeers) {
    const kit::CapturedLog log;
    TestStream stream;
    constexpr int times = 300;
    {
        Server server(stream.state, on_any_port());
        for (int i = 0; i < times; ++i) {
            auto viewer = RawConnection::connect(server.address().server.port);
            viewer.send(hello_for("main"));
            EXPECT_FALSE(viewer.read_exactly(preamble_bytes).empty());
            auto stranger = RawConnection::connect(server.address().server.port);
            stranger.send(hello_for("garden"));
            EXPECT_FALSE(stranger.read_exactly(preamble_bytes).empty());
        }
        EXPECT_TRUE(eventually([&] { return server.metrics().viewers == 0; }));
        EXPECT_EQ(server.metrics().viewers_total, times);
        EXPECT_EQ(server.metrics().refused, times);
    }
    EXPECT_LT(log.lines(), times) << "of three kinds";
    for (const char* kind : {"viewers that came", "viewers that went", "connections refused"})
        EXPECT_NE(log.text().find(fmt::format(" more lines about {} were left out", kind)), std::string::npos) << kind;
    EXPECT_NE(log.text().find("refused: there is no stream 'garden' here; there is 'main'"), std::string::npos);
}

TEST(Server, FinishDoesNotWaitForPendingConnections) {
    TestStream stream;
    auto options = on_any_port();
    options.handshake_deadline = options.write_deadline = 1h;
    Server server(stream.state, options);
    auto silent = RawConnection::connect(server.address().server.port);
    auto refused = RawConnection::connect(server.address().server.port);
    refused.send(hello_for("garden"));
    EXPECT_FALSE(refused.read_exactly(preamble_bytes).empty());
    auto ending = std::async(std::launch::async, [&] { return server.finish(1h); });
    EXPECT_EQ(ending.wait_for(20s), std::future_status::ready);
    silent.close();
    refused.close();
    EXPECT_EQ(ending.get(), 0);
}

TEST(Server, FinishRefusesPendingConnections) {
    TestStream stream;
    Server server(stream.state, on_any_port());
    auto silent = RawConnection::connect(server.address().server.port);
    Client viewer(server.address());  // the previous connection was accepted before
    auto ending = std::async(std::launch::async, [&] { return server.finish(10s); });
    Bytes answer;
    EXPECT_TRUE(silent.read_to_the_end(answer));
    EXPECT_EQ(refusal_in(answer).text, "the stream has come to its end");
    EXPECT_FALSE(viewer.next());
    EXPECT_EQ(ending.get(), 0);
}

}  // namespace guests_test
}  // namespace framewire::net
