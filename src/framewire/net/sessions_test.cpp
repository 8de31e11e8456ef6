#include "framewire/net/sessions.hpp"
#include "framewire/core/error.hpp"
#include "framewire/net/client.hpp"
#include "framewire/net/receiver.hpp"
#include "framewire/net/server.hpp"
#include "framewire/net/testing/test_hello.hpp"
#include "framewire/net/testing/test_memory.hpp"
#include "framewire/net/testing/test_server.hpp"
#include "framewire/net/testing/test_stream.hpp"
#include "framewire/net/testing/test_tcp.hpp"
#include "kit/captured_log.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <list>
#include <string>
#include <thread>
#include <vector>

namespace framewire::net {
namespace {

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
    expect_code(ErrorCode::no_input, "the limit of 2 viewers has been reached",
                [&] { Client one_more(server.address()); });
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
    expect_code(ErrorCode::no_input, "there is no stream 'garden' here; available: 'yard'",
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
        EXPECT_EQ(refusal_in(answer).text, "no complete hello within 300 ms");
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
    const auto expect_reported = [](RawConnection& peer, const std::string& why) {
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
    for (int i = 0; i < 16; ++i) expect_reported(first[i], "4 connections from its address have not sent a hello yet");
    come(second, 4, 2);
    come(third, 2, 3);
    for (int i = 16; i < 20; ++i) expect_held(first[i]);
    come(third, 1, 3);
    expect_reported(first[16], "10 connections have not sent a hello yet");
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
        // A viewer from one of the flooding addresses.
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
    for (const char* kind : {"new viewers", "viewers that left", "refused connections"})
        EXPECT_NE(log.text().find(fmt::format(" more lines about {} were suppressed", kind)), std::string::npos)
            << kind;
    EXPECT_NE(log.text().find("refused: there is no stream 'garden' here; available: 'main'"), std::string::npos);
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
    Client viewer(server.address());  // the server accepted `silent` before
    auto ending = std::async(std::launch::async, [&] { return server.finish(10s); });
    Bytes answer;
    EXPECT_TRUE(silent.read_to_the_end(answer));
    EXPECT_EQ(refusal_in(answer).text, "the stream has ended");
    EXPECT_FALSE(viewer.next());
    EXPECT_EQ(ending.get(), 0);
}

using namespace std::chrono_literals;
using testing::connection_pair;
using testing::expect_code;
using testing::expect_equal;
using testing::greeting_of;
using testing::hello_for;
using testing::hello_of;
using testing::ManualLoop;
using testing::MemoryDialer;
using testing::MemoryPeer;
using testing::picture_of;
using testing::refusal_in;
using testing::TestStream;

// Sessions without a network, on one thread, with a clock that the test advances.
class SessionsTest : public ::testing::Test {
protected:
    MemoryPeer come(std::size_t capacity = std::size_t{1} << 20, const std::string& from = "somebody") {
        auto [near, far] = connection_pair(loop, from, capacity);
        sessions.come(std::move(near));
        loop.run_tasks();
        return {loop, std::move(far)};
    }
    void step(TestStream& stream, Stream& served) {
        stream.step();
        sessions.publish(served);
        loop.run();
    }
    // Sends a viewer one delta frame, which it does not acknowledge.
    void let_hear_a_delta_frame(MemoryPeer& peer, TestStream& stream, Stream& served) {
        peer.say(hello_for("main"));
        peer.hear();
        step(stream, served);
        peer.hear();
    }
    void pass(std::chrono::milliseconds time) {
        loop.pass(time);
        sessions.check_deadlines();
        loop.run_tasks();
    }

    ManualLoop loop;
    std::list<TestStream> streams;  // must outlive the sessions
    Sessions sessions{{.viewers = 3, .pending_connections = {4, 2, 5s, 10s}, .viewer_deadlines = {10s, 1s}}, loop};
};

// Applies the messages that a viewer received and returns the number of states in them.
int take_all(Receiver& receiver, ByteSpan messages) {
    int states = 0;
    while (messages.size() >= header_bytes) {
        const auto header = read_header(messages.first(header_bytes), receiver.max_packed_bytes());
        messages = messages.subspan(header_bytes);
        if (header.length_bytes > messages.size()) break;
        if (header.type == MessageType::picture || header.type == MessageType::changes) {
            receiver.take(header.type, messages.first(header.length_bytes));
            ++states;
        }
        messages = messages.subspan(header.length_bytes);
    }
    EXPECT_TRUE(messages.empty()) << "the last message is incomplete";
    return states;
}

// A viewer that acknowledges what it has received only when the test asks for it.
struct DrawingPeer {
    MemoryPeer peer;
    Receiver receiver;
    std::uint64_t messages = 0;

    void greet(const StreamState& state) {
        peer.say(hello_for("main"));
        EXPECT_EQ(peer.hear(), greeting_of(state));
    }
    void draw() {
        const auto states = take_all(receiver, peer.hear());
        if (states == 0) return;
        messages += static_cast<std::uint64_t>(states);
        peer.say(drawn_message({messages, receiver.state().version, 1}));
    }
};

TEST_F(SessionsTest, SendsHelloKeyframeDeltaFramesAndEnd) {
    auto& stream = streams.emplace_back();
    auto& served = sessions.add("main", stream.state);
    DrawingPeer viewer{come(), Receiver(hello_of(stream.state))};
    EXPECT_TRUE(viewer.peer.hear().empty()) << "the viewer has not sent a hello";
    viewer.greet(stream.state);
    for (int i = 1; i <= 10; ++i) {
        step(stream, served);
        viewer.draw();
        ASSERT_EQ(viewer.receiver.state().version, static_cast<std::uint64_t>(i));
        expect_equal(viewer.receiver.picture(), stream.reference());
    }
    EXPECT_EQ(viewer.receiver.counts().keyframes, 1);
    EXPECT_EQ(viewer.receiver.counts().changes, 9);
    viewer.peer.hear();  // the server's clock, in reply to the first acknowledgement
    sessions.end(served, "");
    EXPECT_EQ(viewer.peer.hear(), empty_message(MessageType::end));
    EXPECT_TRUE(viewer.peer.closed());
    EXPECT_EQ(sessions.metrics().viewers, 0);
    viewer.peer.close();
    loop.run();
    EXPECT_EQ(sessions.cut_off(served), 0);
}

TEST_F(SessionsTest, OnePeerCannotOccupyAllViewerSlots) {
    auto& stream = streams.emplace_back();
    auto& served = sessions.add("main", stream.state);
    const auto greet = [&](MemoryPeer& viewer) {
        pass(1ms);
        viewer.say(hello_for("main"));
        EXPECT_EQ(viewer.hear(), greeting_of(stream.state));
    };
    auto oldest = come(1 << 20, "many");
    greet(oldest);
    auto middle = come(1 << 20, "many");
    greet(middle);
    auto newest = come(1 << 20, "many");
    greet(newest);
    auto of_many = come(1 << 20, "many");
    of_many.say(hello_for("main"));
    EXPECT_EQ(refusal_in(of_many.hear()).reason, Refusal::too_many_viewers) << "the peer already has the most viewers";
    auto other = come(1 << 20, "another");
    other.say(hello_for("main"));
    EXPECT_EQ(other.hear(), greeting_of(stream.state));
    newest.hear();
    EXPECT_TRUE(newest.closed());
    oldest.hear();
    EXPECT_FALSE(oldest.closed());
    auto third = come(1 << 20, "a third");
    third.say(hello_for("main"));
    EXPECT_EQ(third.hear(), greeting_of(stream.state));
    auto fourth = come(1 << 20, "a fourth");
    fourth.say(hello_for("main"));
    EXPECT_EQ(refusal_in(fourth.hear()).reason, Refusal::too_many_viewers) << "each peer has one viewer";
    EXPECT_EQ(sessions.cut_off(served), 3);
}

TEST_F(SessionsTest, LateAcknowledgementSkipsToTheNewestState) {
    auto& stream = streams.emplace_back(Shape{1, 240, 320, 3}, codec::Mode::lossless, 60);
    auto& served = sessions.add("main", stream.state);
    constexpr std::size_t room = std::size_t{8} << 20;
    DrawingPeer late{come(room), Receiver(hello_of(stream.state))}, quick{come(room), Receiver(hello_of(stream.state))};
    late.greet(stream.state);
    quick.greet(stream.state);
    for (int i = 0; i < 50; ++i) {
        step(stream, served);
        quick.draw();
        expect_equal(quick.receiver.picture(), stream.reference());
    }
    EXPECT_EQ(quick.receiver.counts().skipped, 0);
    // The late viewer receives what fitted into its congestion window, about 512 KB of noise, and then the newest
    // picture.
    late.draw();
    const auto before = late.receiver.state().version;
    EXPECT_LT(before, 6u);
    loop.run();
    late.draw();
    EXPECT_EQ(late.receiver.state().version, 50u);
    expect_equal(late.receiver.picture(), stream.reference());
    EXPECT_EQ(sessions.metrics(served).skipped, static_cast<std::int64_t>(50 - before - 1));
    EXPECT_EQ(sessions.metrics().pinned_bytes, 0);
}

TEST_F(SessionsTest, ReturningViewerReceivesOnlyChangedBlocks) {
    auto& stream = streams.emplace_back(Shape{1, 240, 640, 3}, codec::Mode::exact, 0);
    auto& served = sessions.add("main", stream.state);
    DrawingPeer viewer{come(), Receiver(hello_of(stream.state))};
    viewer.greet(stream.state);
    step(stream, served);
    viewer.draw();
    viewer.peer.close();
    loop.run();
    for (int i = 0; i < 5; ++i) step(stream, served);

    auto again = come();
    again.say(viewer_hello({.stream = "main", .held = viewer.receiver.block_versions()}));
    const auto hello = greeting_of(stream.state);
    const auto greeted = again.hear();
    ASSERT_EQ(Bytes(greeted.begin(), greeted.begin() + static_cast<std::ptrdiff_t>(hello.size())), hello);
    viewer.receiver.restart(hello_of(stream.state));
    loop.run();
    const auto heard = again.hear();
    EXPECT_EQ(take_all(viewer.receiver, heard), 1);
    expect_equal(viewer.receiver.picture(), stream.reference());
    EXPECT_LT(heard.size(), picture_of(stream.state).bytes->size() / 2)
        << "blocks that the viewer already has were sent again";
    EXPECT_EQ(viewer.receiver.counts().keyframes, 1);
    EXPECT_EQ(viewer.receiver.counts().parts, 1);

    // The block versions of one stream mean nothing to another stream.
    auto& other = streams.emplace_back(Shape{1, 240, 640, 3}, codec::Mode::exact, 0);
    other.step();
    sessions.add("other", other.state);
    auto stranger = come();
    stranger.say(viewer_hello({.stream = "other", .held = viewer.receiver.block_versions()}));
    stranger.hear();
    loop.run();
    EXPECT_EQ(stranger.hear(), *picture_of(other.state).bytes);
}

TEST_F(SessionsTest, UpToDateReturningViewerReceivesNoBlocks) {
    auto& stream = streams.emplace_back();
    auto& served = sessions.add("main", stream.state);
    step(stream, served);
    Receiver receiver(hello_of(stream.state));
    take_all(receiver, *picture_of(stream.state).bytes);
    auto again = come();
    again.say(viewer_hello({.stream = "main", .held = receiver.block_versions()}));
    again.hear();
    loop.run();
    receiver.restart(hello_of(stream.state));
    const auto heard = again.hear();
    EXPECT_EQ(take_all(receiver, heard), 1);
    EXPECT_LT(heard.size(), 60u);
    EXPECT_EQ(receiver.state().version, 1u);
}

// A viewer on a slow line: every message takes time, and check() compares the picture that it presents with the
// server's R.
struct SlowPeer {
    MemoryPeer peer;
    Receiver receiver;
    const std::vector<HostImage>& references;  // R of each version, starting with version 1
    std::uint64_t messages = 0, acknowledged = 0;
    int presented = 0, parts = 0;
    std::size_t last_bytes = 0;
    double bytes_per_second = 0;  // rate of its line; 0: each message takes nearly a second

    void greet(const Bytes& hello) {
        peer.say(hello);
        const auto preamble = peer.hear();
        EXPECT_GT(preamble.size(), preamble_bytes);
    }
    void read() {
        auto heard = peer.hear();
        for (ByteSpan rest(heard); rest.size() >= header_bytes;) {
            const auto header = read_header(rest.first(header_bytes), receiver.max_packed_bytes());
            const auto payload = rest.subspan(header_bytes, header.length_bytes);
            rest = rest.subspan(header_bytes + header.length_bytes);
            if (header.type != MessageType::picture && header.type != MessageType::changes) continue;
            ++messages;
            last_bytes = header.length_bytes;
            if (receiver.take(header.type, payload) != Receiver::Outcome::picture)
                ++parts;
            else
                ++presented;
            check();
        }
    }
    // Checks that the picture is one complete state, whatever message was received last.
    void check() const {
        const auto version = receiver.state().version;
        if (version > 0) expect_equal(receiver.picture(), references.at(version - 1).view());
    }
    void acknowledge() {
        if (acknowledged == messages) return;
        acknowledged = messages;
        const auto coming_us =
            bytes_per_second > 0 ? 1e6 * static_cast<double>(last_bytes) / bytes_per_second : 950'000;
        peer.say(drawn_message({messages, receiver.state().version, 1, 0, static_cast<std::uint32_t>(coming_us)}));
    }
};

class SlowViewers : public SessionsTest {
protected:
    explicit SlowViewers(codec::Mode mode = codec::Mode::lossless)
        : stream(streams.emplace_back(Shape{1, 240, 320, 3}, mode, 60)), served(sessions.add("main", stream.state)) {}

    void next() {
        stream.step();
        auto& reference = references.emplace_back(stream.reference().shape());
        copy(stream.reference(), reference.view());
        sessions.publish(served);
        loop.run();
    }
    void go_on(SlowPeer& viewer, int frames) {
        for (int i = 0; i < frames; ++i) {
            next();
            viewer.read();
            loop.pass(333ms);
            if (i % 3 == 2) viewer.acknowledge();
            loop.run();
        }
    }
    void finish(SlowPeer& viewer) {
        for (int i = 0; i < 200; ++i) {
            loop.run();
            viewer.read();
            loop.pass(100ms);
            viewer.acknowledge();
        }
    }

    std::vector<HostImage> references;
    TestStream& stream;
    Stream& served;
};

TEST_F(SlowViewers, PresentOnlyCompleteStates) {
    SlowPeer viewer{come(), Receiver(hello_of(stream.state)), references};
    viewer.bytes_per_second = 300e3;
    viewer.greet(hello_for("main"));
    go_on(viewer, 90);
    EXPECT_GE(viewer.presented, 5);
    EXPECT_GE(viewer.parts, 5) << "too few partial messages for this test";
    finish(viewer);
    EXPECT_EQ(viewer.receiver.state().version, 90u);
    EXPECT_EQ(sessions.metrics().pinned_bytes, 0);
}

TEST_F(SlowViewers, ResumeAnIncompleteStateAfterReconnecting) {
    SlowPeer viewer{come(), Receiver(hello_of(stream.state)), references};
    viewer.greet(hello_for("main"));
    go_on(viewer, 30);
    int interrupted = 0;
    auto held = std::move(viewer.receiver);
    viewer.peer.close();
    for (int connection = 0; connection < 12; ++connection) {
        SlowPeer again{come(), std::move(held), references};
        again.greet(viewer_hello({.stream = "main", .held = again.receiver.block_versions()}));
        again.receiver.restart(hello_of(stream.state));
        go_on(again, 7 + connection);
        interrupted += again.receiver.block_versions().runs.size() > 1;
        again.peer.close();
        loop.run();
        held = std::move(again.receiver);
    }
    EXPECT_GT(interrupted, 3) << "too few interrupted states for this test";
    SlowPeer last{come(), std::move(held), references};
    last.greet(viewer_hello({.stream = "main", .held = last.receiver.block_versions()}));
    last.receiver.restart(hello_of(stream.state));
    next();
    finish(last);
    EXPECT_EQ(last.receiver.state().version, references.size());
}

TEST_F(SlowViewers, AbandonWithdrawnStates) {
    SlowPeer viewer{come(), Receiver(hello_of(stream.state)), references};
    viewer.greet(hello_for("main"));
    for (int i = 0; i < 20; ++i) {
        go_on(viewer, 4 + i % 3);
        viewer.read();
        stream.state.withdraw_before_next();
        next();
        const auto allowed = references.size(), shown = viewer.receiver.state().version;
        viewer.read();  // reads the message in progress
        for (int answer = 0; answer < 60; ++answer) {
            viewer.acknowledge();
            loop.run();
            viewer.read();
            loop.pass(200ms);
        }
        EXPECT_GE(viewer.receiver.state().version, allowed);
        EXPECT_TRUE(viewer.receiver.state().withdraws)
            << "the withdrawal must be signalled; version shown before: " << shown;
    }
    EXPECT_GT(viewer.parts, 20) << "too few partial messages for this test";
}

// An up-to-date viewer learns of the withdrawal from a flag of the delta frame, which only viewers of version 5
// understand.
TEST_F(SlowViewers, DeltaFramesAnnounceWithdrawnStates) {
    SlowPeer newer{come(), Receiver(hello_of(stream.state)), references};
    newer.greet(hello_for("main"));
    SlowPeer older{come(), Receiver(hello_of(stream.state)), references};
    older.greet(viewer_hello({.stream = "main", .version = oldest_wire_version}));
    const auto take = [&] {
        for (auto* viewer : {&newer, &older}) {
            viewer->read();
            viewer->acknowledge();
        }
        loop.run();
    };
    for (int i = 0; i < 12; ++i) {
        const bool withdraws = i % 4 == 3;
        if (withdraws) stream.state.withdraw_before_next();
        next();
        take();
        take();
        for (const auto* viewer : {&newer, &older}) EXPECT_EQ(viewer->receiver.state().version, references.size());
        if (i == 0) continue;  // the first message is a keyframe
        EXPECT_EQ(newer.receiver.state().withdraws, withdraws) << i;
        EXPECT_EQ(older.receiver.counts().changes, i - (i + 1) / 4)
            << "withdrawals must arrive as blocks instead of delta frames";
    }
    EXPECT_EQ(newer.receiver.counts().changes, 11);
}

TEST_F(SlowViewers, ReceiveTheEndAfterTheLastCompleteState) {
    SlowPeer viewer{come(), Receiver(hello_of(stream.state)), references};
    viewer.greet(hello_for("main"));
    go_on(viewer, 31);
    sessions.end(served, "");
    for (int i = 0; i < 200 && !viewer.peer.closed(); ++i) {
        viewer.read();
        loop.pass(100ms);
        viewer.acknowledge();
        loop.run();
    }
    EXPECT_TRUE(viewer.peer.closed());
    EXPECT_EQ(viewer.receiver.state().version, 31u);
}

// Viewers of version 4 present whatever they hold, so each message must leave them with a complete state.
TEST_F(SlowViewers, OldestVersionReceivesEachStateInOneMessage) {
    SlowPeer viewer{come(), Receiver(hello_of(stream.state)), references};
    auto hello = viewer_hello({.stream = "main", .version = oldest_wire_version});
    viewer.peer.say(hello);
    EXPECT_EQ(viewer.peer.hear(), server_hello(hello_of(stream.state), oldest_wire_version));
    go_on(viewer, 60);
    EXPECT_GE(viewer.presented, 5);
    EXPECT_EQ(viewer.parts, 0);
    finish(viewer);
    EXPECT_EQ(viewer.receiver.state().version, 60u);
}

// Pending blocks count as pinned memory, but only once if viewers share them.
TEST_F(SlowViewers, SharePendingBlocks) {
    SlowPeer one{come(), Receiver(hello_of(stream.state)), references},
        other{come(), Receiver(hello_of(stream.state)), references};
    one.greet(hello_for("main"));
    other.greet(hello_for("main"));
    std::int64_t most = 0;
    for (int i = 0; i < 60; ++i) {
        next();
        for (auto* viewer : {&one, &other}) viewer->read();
        most = std::max(most, sessions.metrics().pinned_bytes);
        loop.pass(333ms);
        if (i % 3 == 2)
            for (auto* viewer : {&one, &other}) viewer->acknowledge();
        loop.run();
    }
    EXPECT_GT(most, 0);
    EXPECT_LT(most, static_cast<std::int64_t>(picture_of(stream.state).bytes->size()) * 3 / 2);
}

TEST_F(SessionsTest, ViewerWithImpossibleAcknowledgementsIsDropped) {
    auto& stream = streams.emplace_back();
    auto& served = sessions.add("main", stream.state);
    for (const std::uint64_t messages : {0, 2}) {
        auto liar = come();
        let_hear_a_delta_frame(liar, stream, served);
        liar.say(drawn_message({messages, 1, 1}));
        EXPECT_EQ(sessions.metrics().viewers, 0) << messages;
    }
    EXPECT_EQ(sessions.metrics().dropped, 2);
}

TEST_F(SessionsTest, ViewerThatNeverAcknowledgesIsDropped) {
    auto& stream = streams.emplace_back();
    auto& served = sessions.add("main", stream.state);
    auto peer = come();
    let_hear_a_delta_frame(peer, stream, served);
    for (int second = 0; second < 9; ++second) {
        pass(1s);
        peer.hear();
    }
    EXPECT_EQ(sessions.metrics().viewers, 1);
    pass(1s);
    EXPECT_EQ(sessions.metrics().dropped, 1);
}

TEST_F(SessionsTest, AcknowledgementIsAnsweredWithTheServersClock) {
    auto& stream = streams.emplace_back();
    auto& served = sessions.add("main", stream.state);
    auto peer = come();
    let_hear_a_delta_frame(peer, stream, served);
    peer.say(drawn_message({1, 1, 1000}));
    loop.run();
    const auto now_us = microseconds_since_start(loop.now());
    EXPECT_EQ(peer.hear(), clock_message({1000, now_us}));
}

TEST_F(SessionsTest, ControlRequestsAreHandledInOrder) {
    auto& stream = streams.emplace_back();
    std::vector<std::string> control_requests;
    auto& served = sessions.add("main", stream.state, [&](const std::string& control_request) -> std::string {
        control_requests.push_back(control_request);
        if (control_request == "no") fail(ErrorCode::usage, "not this");
        return "after " + control_request;
    });
    auto peer = come();
    peer.say(hello_for("main"));
    auto hello = hello_of(stream.state);
    hello.controls = true;
    EXPECT_EQ(peer.hear(), server_hello(hello));
    auto other_one = come();
    other_one.say(hello_for("main"));
    other_one.hear();
    peer.say(control_message("yes"));
    peer.say(control_message("no"));
    EXPECT_TRUE(control_requests.empty());
    loop.run();
    EXPECT_EQ(control_requests, (std::vector<std::string>{"yes", "no"}));
    auto answers = answer_message({true, "after yes"});
    const auto second = answer_message({false, "not this"});
    answers.insert(answers.end(), second.begin(), second.end());
    EXPECT_EQ(peer.hear(), answers);
    EXPECT_EQ(other_one.hear(), answer_message({true, "after yes", true})) << "other viewers must learn of the change";
    EXPECT_EQ(sessions.metrics(served).viewers, 2);

    auto& other = streams.emplace_back();
    sessions.add("other", other.state);
    auto stranger = come();
    stranger.say(hello_for("other"));
    stranger.hear();
    stranger.say(control_message("yes"));
    EXPECT_EQ(sessions.metrics().dropped, 1) << "the stream does not accept control requests";
}

TEST_F(SessionsTest, SilentPeerIsRefusedAtTheDeadline) {
    auto& stream = streams.emplace_back();
    sessions.add("main", stream.state);
    auto silent = come();
    pass(4999ms);
    EXPECT_TRUE(silent.hear().empty());
    EXPECT_FALSE(silent.closed());
    pass(1ms);
    EXPECT_EQ(refusal_in(silent.hear()).text, "no complete hello within 5000 ms");
    EXPECT_TRUE(silent.closed());
    EXPECT_EQ(sessions.metrics().refused, 1);
}

TEST_F(SessionsTest, RefusedPeerHasLimitedTimeToClose) {
    auto talker = come();
    talker.say(Bytes(64, 'G'));
    talker.hear();
    pass(9999ms);
    EXPECT_TRUE(talker.say({'G'})) << "the bytes must still be read and discarded";
    pass(1ms);
    EXPECT_FALSE(talker.say({'G'}));
}

TEST_F(SessionsTest, HelloMayArriveInPieces) {
    auto& stream = streams.emplace_back();
    sessions.add("main", stream.state);
    auto peer = come();
    for (const auto byte : hello_for("main")) {
        EXPECT_TRUE(peer.hear().empty());
        peer.say({byte});
    }
    EXPECT_EQ(peer.hear(), greeting_of(stream.state));
}

TEST_F(SessionsTest, StuckViewerIsDroppedAtTheDeadline) {
    auto& stream = streams.emplace_back();
    auto& served = sessions.add("main", stream.state);
    auto stuck = come(100);
    stuck.say(hello_for("main"));
    EXPECT_EQ(stuck.hear(), greeting_of(stream.state));
    step(stream, served);
    pass(9999ms);
    EXPECT_EQ(sessions.metrics().viewers, 1);
    pass(1ms);
    EXPECT_EQ(sessions.metrics().viewers, 0);
    EXPECT_EQ(sessions.metrics().dropped, 1);
    EXPECT_EQ(sessions.metrics().pinned_bytes, 0);
}

TEST_F(SessionsTest, KeepAlivesContinueWhileAKeyframeIsEncoded) {
    auto& stream = streams.emplace_back();
    stream.step();
    sessions.add("main", stream.state);
    auto peer = come();
    peer.say(hello_for("main"));
    EXPECT_EQ(peer.hear(), greeting_of(stream.state));
    for (int i = 0; i < 5; ++i) {
        pass(999ms);
        EXPECT_TRUE(peer.hear().empty());
        pass(1ms);
        EXPECT_EQ(peer.hear(), empty_message(MessageType::alive));
    }
    loop.run();  // also encodes the keyframe
    EXPECT_EQ(peer.hear(), *picture_of(stream.state).bytes);
}

TEST_F(SessionsTest, ListsTheStreamsIfOneIsUnknown) {
    const auto answer_to = [&](const std::string& name) {
        auto peer = come();
        peer.say(hello_for(name));
        return refusal_in(peer.hear()).text;
    };
    EXPECT_EQ(answer_to("roof"), "there is no stream 'roof' here; available: none");
    auto& stream = streams.emplace_back();
    auto& yard = sessions.add("yard", stream.state);
    EXPECT_EQ(answer_to("roof"), "there is no stream 'roof' here; available: 'yard'");
    auto& garden = sessions.add("garden", stream.state);
    EXPECT_EQ(answer_to("roof"), "there is no stream 'roof' here; available: 'garden', 'yard'");
    sessions.end(garden, "");
    EXPECT_EQ(answer_to("garden"), "the stream has ended");
    EXPECT_EQ(answer_to("roof"), "there is no stream 'roof' here; available: 'yard'");
    // However many and however long the names are, their number fits into the message.
    for (char letter = 'a'; letter <= 'z'; ++letter) sessions.add(std::string(64, letter), stream.state);
    const auto longest = answer_to(std::string(64, 'A'));
    EXPECT_NE(longest.find("; available: 'aaaaa"), std::string::npos) << longest;
    EXPECT_TRUE(longest.ends_with(" and 26 more")) << longest;
    expect_code(ErrorCode::usage, "a stream 'yard' already exists", [&] { sessions.add("yard", stream.state); });
    expect_code(ErrorCode::usage, "a/b", [&] { sessions.add("a/b", stream.state); });
    EXPECT_EQ(yard.name, "yard");
}

TEST_F(SessionsTest, StreamIsRemovedAfterItsKeyframeIsEncoded) {
    auto& stream = streams.emplace_back();
    stream.step();
    auto& served = sessions.add("main", stream.state);
    auto peer = come();
    peer.say(hello_for("main"));
    EXPECT_EQ(peer.hear(), greeting_of(stream.state));
    bool removed = false;
    sessions.remove(served, [&] { removed = true; });
    loop.run_tasks();
    EXPECT_FALSE(removed) << "the stream's state is still in use";
    EXPECT_TRUE(peer.hear().empty());
    EXPECT_TRUE(peer.closed());
    loop.run();
    EXPECT_TRUE(removed);
    sessions.add("main", stream.state);
}

TEST_F(SessionsTest, ClientWorksWithoutANetwork) {
    auto& stream = streams.emplace_back();
    stream.step();
    auto& served = sessions.add("main", stream.state);
    const auto tick = [&] { sessions.check_deadlines(); };
    const auto dialer = [&](std::function<void()> ticking) {
        return std::make_unique<MemoryDialer>(
            loop, [&](ConnectionPointer connection) { sessions.come(std::move(connection)); }, std::move(ticking));
    };
    Client client(dialer(tick), {{"memory", 1}, "main"});
    ASSERT_TRUE(client.next());
    expect_equal(client.picture(), stream.reference());
    for (int i = 0; i < 5; ++i) {
        step(stream, served);
        ASSERT_TRUE(client.next());
        expect_equal(client.picture(), stream.reference());
    }
    expect_code(ErrorCode::no_input, "there is no stream 'roof' here; available: 'main'", [&] {
        Client other(dialer(tick), {{"memory", 1}, "roof"});
    });

    // A silent server counts as lost after the client's silence deadline.
    Client lonely(dialer([] {}), {{"memory", 1}, "main"});
    ASSERT_TRUE(lonely.next());
    const auto before = loop.now();
    expect_code(ErrorCode::source_lost, "timed out waiting for the server", [&] { lonely.next(); });
    EXPECT_EQ(loop.now() - before, 5s);
}

TEST_F(SessionsTest, ClientReconnectsWithGrowingPauses) {
    auto& stream = streams.emplace_back();
    stream.step();
    sessions.add("main", stream.state);
    std::vector<Clock::time_point> tries;
    const auto serve = [&](ConnectionPointer connection) {
        tries.push_back(loop.now());
        if (tries.size() == 1 || tries.size() == 4) sessions.come(std::move(connection));
    };
    ClientOptions options;
    options.reconnect = 10s;
    Client client(std::make_unique<MemoryDialer>(loop, serve, [] {}), {{"memory", 1}, "main"}, options);
    ASSERT_TRUE(client.next());
    const auto lost = loop.now() + 5s;  // when the client's silence deadline passes
    ASSERT_TRUE(client.next());
    EXPECT_EQ(client.counts().reconnections, 1);
    ASSERT_EQ(tries.size(), 4u);
    EXPECT_EQ(tries[1] - lost, 100ms);
    EXPECT_EQ(tries[2] - lost, 300ms);
    EXPECT_EQ(tries[3] - lost, 700ms);
    expect_equal(client.picture(), stream.reference());
}

}  // namespace
}  // namespace framewire::net
