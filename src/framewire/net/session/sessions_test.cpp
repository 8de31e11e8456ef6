#include "framewire/net/session/sessions.hpp"

#include "framewire/net/client.hpp"
#include "framewire/net/stream/receiver.hpp"
#include "framewire/net/testing/test_memory.hpp"
#include "framewire/net/testing/test_server.hpp"
#include "framewire/net/testing/test_stream.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <list>
#include <string>
#include <vector>

namespace framewire::net {
namespace sessions_test {

using namespace std::chrono_literals;
using testing::connection_pair;
using testing::expect_code;
using testing::expect_equal;
using testing::ManualLoop;
using testing::MemoryDialer;
using testing::MemoryPeer;
using testing::refusal_in;
using testing::TestStream;

// Session logic without a network, in one thread, by a clock that the test moves.
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
    void pass(std::chrono::milliseconds time) {
        loop.pass(time);
        sessions.check_deadlines();
        loop.run_tasks();
    }

    ManualLoop loop;
    std::list<TestStream> streams;  // live longer than what serves them
    Sessions sessions{{.viewers = 3, .guests = {4, 2, 5s, 10s}, .viewer_deadlines = {10s, 1s}}, loop};
};

void take_all(Receiver& receiver, ByteSpan messages, bool& ended) {
    while (!messages.empty()) {
        ASSERT_GE(messages.size(), header_bytes);
        const auto header = read_header(messages.first(header_bytes), receiver.max_packed_bytes());
        ASSERT_GE(messages.size() - header_bytes, header.length_bytes);
        ended =
            receiver.take(header.type, messages.subspan(header_bytes, header.length_bytes)) == Receiver::Outcome::ended;
        messages = messages.subspan(header_bytes + header.length_bytes);
    }
}

TEST_F(SessionsTest, GreetsSendsAPictureThenStepsThenTheEnd) {
    auto& stream = streams.emplace_back();
    auto& served = sessions.add("main", stream.state);
    auto peer = come();
    EXPECT_TRUE(peer.hear().empty()) << "it has not said hello";
    peer.say(client_hello("main"));
    EXPECT_EQ(peer.hear(), server_hello(stream.state.info()));
    Receiver receiver(stream.state.info());
    bool ended = false;
    for (int i = 1; i <= 10; ++i) {
        step(stream, served);
        take_all(receiver, peer.hear(), ended);
        ASSERT_EQ(receiver.state().version, static_cast<std::uint64_t>(i));
        expect_equal(receiver.picture(), stream.reference());
    }
    EXPECT_EQ(receiver.counts().pictures, 1);
    EXPECT_EQ(receiver.counts().changes, 9);
    sessions.end(served, "");
    EXPECT_EQ(peer.hear(), empty_message(MessageType::end));
    EXPECT_TRUE(peer.closed());
    EXPECT_EQ(sessions.metrics().viewers, 0);
    peer.close();
    loop.run();
    EXPECT_EQ(sessions.cut_off(served), 0);
}

TEST_F(SessionsTest, ASlowReaderSkipsAndIsSentTheNewestPictureOnce) {
    auto& stream = streams.emplace_back(Shape{1, 60, 80, 3}, delta::Mode::lossless, 60);
    auto& served = sessions.add("main", stream.state);
    auto slow = come(1000), quick = come();
    for (auto* peer : {&slow, &quick}) {
        peer->say(client_hello("main"));
        EXPECT_EQ(peer->hear(), server_hello(stream.state.info()));
    }
    Receiver slow_receiver(stream.state.info()), quick_receiver(stream.state.info());
    bool ended = false;
    for (int i = 0; i < 50; ++i) {
        step(stream, served);
        take_all(quick_receiver, quick.hear(), ended);
        expect_equal(quick_receiver.picture(), stream.reference());
    }
    EXPECT_EQ(quick_receiver.counts().skipped, 0);
    // What was under way, which is the first picture; then the newest one.
    while (slow_receiver.state().version < 50) {
        const auto messages = slow.hear();
        ASSERT_FALSE(messages.empty());
        take_all(slow_receiver, messages, ended);
        loop.run();
    }
    expect_equal(slow_receiver.picture(), stream.reference());
    EXPECT_EQ(slow_receiver.counts().pictures, 2);
    EXPECT_EQ(slow_receiver.counts().changes, 0);
    EXPECT_EQ(sessions.metrics(served).skipped, 48);
    EXPECT_EQ(sessions.metrics().pinned_bytes, 0);
}

TEST_F(SessionsTest, ASilentPeerIsToldSoAtTheDeadline) {
    auto& stream = streams.emplace_back();
    sessions.add("main", stream.state);
    auto silent = come();
    pass(4999ms);
    EXPECT_TRUE(silent.hear().empty());
    EXPECT_FALSE(silent.closed());
    pass(1ms);
    EXPECT_EQ(refusal_in(silent.hear()).text, "no whole hello within 5000 ms");
    EXPECT_TRUE(silent.closed());
    EXPECT_EQ(sessions.metrics().refused, 1);
}

TEST_F(SessionsTest, WhoWasTurnedAwayHasTimeToCloseAndNoMore) {
    auto talker = come();
    talker.say(Bytes(64, 'G'));
    talker.hear();
    pass(9999ms);
    EXPECT_TRUE(talker.say({'G'})) << "still read, and thrown away";
    pass(1ms);
    EXPECT_FALSE(talker.say({'G'}));
}

TEST_F(SessionsTest, AHelloMayComeInPieces) {
    auto& stream = streams.emplace_back();
    sessions.add("main", stream.state);
    auto peer = come();
    for (const auto byte : client_hello("main")) {
        EXPECT_TRUE(peer.hear().empty());
        peer.say({byte});
    }
    EXPECT_EQ(peer.hear(), server_hello(stream.state.info()));
}

TEST_F(SessionsTest, AStuckViewerIsDroppedAtTheDeadline) {
    auto& stream = streams.emplace_back();
    auto& served = sessions.add("main", stream.state);
    auto stuck = come(100);
    stuck.say(client_hello("main"));
    EXPECT_EQ(stuck.hear(), server_hello(stream.state.info()));
    step(stream, served);
    pass(9999ms);
    EXPECT_EQ(sessions.metrics().viewers, 1);
    pass(1ms);
    EXPECT_EQ(sessions.metrics().viewers, 0);
    EXPECT_EQ(sessions.metrics().dropped, 1);
    EXPECT_EQ(sessions.metrics().pinned_bytes, 0);
}

TEST_F(SessionsTest, KeepAlivesGoOnWhileAPictureIsPacked) {
    auto& stream = streams.emplace_back();
    stream.step();
    sessions.add("main", stream.state);
    auto peer = come();
    peer.say(client_hello("main"));
    EXPECT_EQ(peer.hear(), server_hello(stream.state.info()));
    for (int i = 0; i < 5; ++i) {
        pass(999ms);
        EXPECT_TRUE(peer.hear().empty());
        pass(1ms);
        EXPECT_EQ(peer.hear(), empty_message(MessageType::alive));
    }
    loop.run();  // the packing, too
    EXPECT_EQ(peer.hear(), *stream.state.picture().bytes);
}

TEST_F(SessionsTest, SaysWhichStreamsThereAre) {
    const auto answer_to = [&](const std::string& name) {
        auto peer = come();
        peer.say(client_hello(name));
        return refusal_in(peer.hear()).text;
    };
    EXPECT_EQ(answer_to("roof"), "there is no stream 'roof' here; there is none");
    auto& stream = streams.emplace_back();
    auto& yard = sessions.add("yard", stream.state);
    EXPECT_EQ(answer_to("roof"), "there is no stream 'roof' here; there is 'yard'");
    auto& garden = sessions.add("garden", stream.state);
    EXPECT_EQ(answer_to("roof"), "there is no stream 'roof' here; there are 'garden', 'yard'");
    sessions.end(garden, "");
    EXPECT_EQ(answer_to("garden"), "the stream has come to its end");
    EXPECT_EQ(answer_to("roof"), "there is no stream 'roof' here; there is 'yard'");
    // However many and long they are, their number fits into the answer.
    for (char letter = 'a'; letter <= 'z'; ++letter) sessions.add(std::string(64, letter), stream.state);
    const auto longest = answer_to(std::string(64, 'A'));
    EXPECT_NE(longest.find("; there are 'aaaaa"), std::string::npos) << longest;
    EXPECT_TRUE(longest.ends_with(" and 26 more")) << longest;
    expect_code(ErrorCode::usage, "there is a stream 'yard' already", [&] { sessions.add("yard", stream.state); });
    expect_code(ErrorCode::usage, "a/b", [&] { sessions.add("a/b", stream.state); });
    EXPECT_EQ(yard.name, "yard");
}

TEST_F(SessionsTest, AStreamIsRemovedWhenItsPictureIsPacked) {
    auto& stream = streams.emplace_back();
    stream.step();
    auto& served = sessions.add("main", stream.state);
    auto peer = come();
    peer.say(client_hello("main"));
    EXPECT_EQ(peer.hear(), server_hello(stream.state.info()));
    bool removed = false;
    sessions.remove(served, [&] { removed = true; });
    loop.run_tasks();
    EXPECT_FALSE(removed) << "its state is in use";
    EXPECT_TRUE(peer.hear().empty());
    EXPECT_TRUE(peer.closed());
    loop.run();
    EXPECT_TRUE(removed);
    sessions.add("main", stream.state);
}

TEST_F(SessionsTest, AClientNeedsNoNetwork) {
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
    expect_code(ErrorCode::no_input, "there is no stream 'roof' here; there is 'main'", [&] {
        Client other(dialer(tick), {{"memory", 1}, "roof"});
    });

    // A server that says nothing: lost after the client's own deadline.
    Client lonely(dialer([] {}), {{"memory", 1}, "main"});
    ASSERT_TRUE(lonely.next());
    const auto before = loop.now();
    expect_code(ErrorCode::source_lost, "the server is silent", [&] { lonely.next(); });
    EXPECT_EQ(loop.now() - before, 5s);
}

TEST_F(SessionsTest, AClientTriesAgainForAsLongAsItMay) {
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
    const auto lost = loop.now() + 5s;  // of silence
    ASSERT_TRUE(client.next());
    EXPECT_EQ(client.counts().reconnections, 1);
    ASSERT_EQ(tries.size(), 4u);
    EXPECT_EQ(tries[1] - lost, 100ms);
    EXPECT_EQ(tries[2] - lost, 300ms);
    EXPECT_EQ(tries[3] - lost, 700ms);
    expect_equal(client.picture(), stream.reference());
}

}  // namespace sessions_test
}  // namespace framewire::net
