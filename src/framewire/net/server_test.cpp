#include "framewire/net/server.hpp"

#include "framewire/core/error.hpp"
#include "framewire/net/client.hpp"
#include "framewire/net/test_log.hpp"
#include "framewire/net/test_lookup.hpp"
#include "framewire/net/test_stream.hpp"
#include "framewire/net/test_tcp.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>
#include <vector>

namespace framewire::net {
namespace {

using namespace std::chrono_literals;
using testing::eventually;
using testing::expect_equal;
using testing::RawConnection;
using testing::TestStream;

ServerOptions on_any_port() {
    ServerOptions options;
    options.listen = {"127.0.0.1", 0};
    return options;
}

void expect_code(ErrorCode code, const std::string& part, const std::function<void()>& call) {
    try {
        call();
        ADD_FAILURE() << "no error; wanted: " << part;
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), code) << error.what();
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
}

// Takes messages until the client holds a version at least as new.
void follow(Client& client, std::uint64_t version) {
    while (client.state().version < version) ASSERT_TRUE(client.next());
}

// What a server said to somebody it turned away.
ServerError refusal_in(const Bytes& answer) {
    if (answer.size() <= preamble_bytes + header_bytes) return {{}, "not a word"};
    read_preamble(ByteSpan(answer).first(preamble_bytes));
    return read_error(ByteSpan(answer).subspan(preamble_bytes + header_bytes));
}

// A viewer that has read the server's hello and the header of its first picture, and reads no more.
RawConnection stuck_in_a_picture(const Server& server, const StreamInfo& info) {
    auto viewer = RawConnection::connect(server.address().server.port, 4096);
    EXPECT_TRUE(viewer.send(client_hello(server.address().stream)));
    EXPECT_EQ(viewer.read_exactly(server_hello(info).size()), server_hello(info));
    const auto header = viewer.read_exactly(header_bytes);
    EXPECT_EQ(header.at(0), static_cast<std::uint8_t>(MessageType::picture));
    return viewer;
}

TEST(Server, ViewerHoldsWhatTheEncoderHolds) {
    TestStream stream;
    Server server(stream.state, on_any_port());
    Client client(server.address());
    EXPECT_EQ(client.info().shape, stream.state.info().shape);
    EXPECT_EQ(client.info().threshold, 20);
    EXPECT_EQ(client.info().source, "a test");
    ASSERT_TRUE(server.wait_for_viewers(1, {}));
    for (std::uint64_t version = 1; version <= 40; ++version) {
        stream.step();
        server.publish();
        follow(client, version);
        EXPECT_EQ(client.state().frame, static_cast<std::int64_t>(version) - 1);
        expect_equal(client.picture(), stream.reference());
    }
    EXPECT_EQ(client.counts().received.pictures, 1);
    EXPECT_EQ(client.counts().received.changes, 39);

    auto ending = std::async(std::launch::async, [&] { return server.finish(10s); });
    EXPECT_FALSE(client.next());
    EXPECT_FALSE(client.next()) << "an ended stream stays ended";
    EXPECT_EQ(ending.get(), 0);
    const auto metrics = server.metrics();
    EXPECT_EQ(metrics.viewers, 0);
    EXPECT_EQ(metrics.viewers_total, 1);
    EXPECT_EQ(metrics.dropped, 0);
    EXPECT_EQ(metrics.pictures, 1);
    EXPECT_EQ(metrics.steps, 39);
    EXPECT_EQ(metrics.picture_bytes + metrics.step_bytes + metrics.other_bytes, client.counts().bytes);
}

TEST(Server, LateViewerGetsTheWholePictureFirst) {
    TestStream stream;
    Server server(stream.state, on_any_port());
    for (int i = 0; i < 20; ++i) stream.step();
    EXPECT_EQ(stream.state.counts().pictures, 0) << "nobody was there";
    Client client(server.address());
    ASSERT_TRUE(client.next());
    EXPECT_EQ(client.state().version, 20u);
    expect_equal(client.picture(), stream.reference());
}

TEST(Server, ManyViewersEndWithTheSamePicture) {
    for (const auto mode : {delta::Mode::exact, delta::Mode::lossless}) {
        TestStream stream({1, 60, 80, 3}, mode);
        Server server(stream.state, on_any_port());
        std::atomic<int> versions_seen{0};
        const auto view = [&] {
            Client client(server.address());
            while (client.next()) ++versions_seen;
            EXPECT_EQ(client.state().version, 100u);
            expect_equal(client.picture(), stream.reference());
        };
        std::vector<std::future<void>> viewers;
        for (int i = 0; i < 4; ++i) viewers.push_back(std::async(std::launch::async, view));
        ASSERT_TRUE(server.wait_for_viewers(4, {}));
        for (int i = 0; i < 100; ++i) {
            stream.step();
            server.publish();
            if (i == 50) {
                viewers.push_back(std::async(std::launch::async, view));
                ASSERT_TRUE(server.wait_for_viewers(5, {}));
            }
        }
        EXPECT_EQ(server.finish(20s), 0);
        for (auto& viewer : viewers) viewer.get();
        EXPECT_GE(versions_seen, 5);
        if (mode == delta::Mode::lossless) expect_equal(stream.reference(), stream.current());
    }
}

// One viewer takes nothing; the other still gets every picture at once, and what waits for the first stays one message.
TEST(Server, SlowViewerSkipsAndDelaysNobody) {
    TestStream stream({1, 240, 320, 3}, delta::Mode::lossless, 60);  // about 200 kB of noise a step
    auto options = on_any_port();
    options.write_deadline = 5min;  // on a slow machine the steps take a while
    Server server(stream.state, options);
    auto slow = RawConnection::connect(server.address().server.port, 4096);
    ASSERT_TRUE(slow.send(client_hello("main")));
    Client quick(server.address());
    ASSERT_TRUE(server.wait_for_viewers(2, {}));

    constexpr std::uint64_t versions = 100;
    for (std::uint64_t version = 1; version <= versions; ++version) {
        stream.step();
        server.publish();
        follow(quick, version);
        expect_equal(quick.picture(), stream.reference());
    }
    EXPECT_EQ(quick.counts().received.skipped, 0);

    // Now it reads: what was under way, then the newest picture, and nothing of what lay between.
    auto ending = std::async(std::launch::async, [&] { return server.finish(20s); });
    Bytes received;
    ASSERT_TRUE(slow.read_to_the_end(received, 20s));
    slow.close();
    while (quick.next()) {
    }
    EXPECT_EQ(ending.get(), 0);
    EXPECT_LT(received.size(), std::size_t{20} * static_cast<std::size_t>(stream.state.info().shape.bytes()));
    EXPECT_GT(server.metrics().skipped, 50);

    const ByteSpan all(received);
    Receiver viewer(stream.state.info());
    auto rest = all.subspan(server_hello(stream.state.info()).size());
    bool ended = false;
    while (!rest.empty()) {
        ASSERT_GE(rest.size(), header_bytes);
        const auto header = read_header(rest.first(header_bytes), viewer.max_packed_bytes());
        rest = rest.subspan(header_bytes);
        ASSERT_GE(rest.size(), header.length_bytes);
        ended = viewer.take(header.type, rest.first(header.length_bytes)) == Receiver::Outcome::ended;
        rest = rest.subspan(header.length_bytes);
    }
    EXPECT_TRUE(ended);
    EXPECT_EQ(viewer.state().version, versions);
    expect_equal(viewer.picture(), stream.reference());
}

TEST(Server, StuckViewerIsDropped) {
    TestStream stream({1, 480, 640, 3}, delta::Mode::lossless, 60);
    auto options = on_any_port();
    options.write_deadline = 300ms;
    options.keep_alive = 100ms;
    Server server(stream.state, options);
    auto stuck = RawConnection::connect(server.address().server.port, 4096);
    ASSERT_TRUE(stuck.send(client_hello("main")));
    ASSERT_TRUE(server.wait_for_viewers(1, {}));
    EXPECT_TRUE(eventually([&] {
        stream.step();
        server.publish();
        return server.metrics().dropped == 1;
    }));
    EXPECT_EQ(server.metrics().viewers, 0);
}

TEST(Server, TurnsAwayWhoComesTooMany) {
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

TEST(Server, TurnsAwayWhoAsksForAnotherStream) {
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

TEST(Server, RefusesHostileViewers) {
    TestStream stream;
    auto options = on_any_port();
    options.handshake_deadline = 300ms;
    options.keep_alive = 100ms;
    Server server(stream.state, options);
    stream.step();
    const auto port = server.address().server.port;
    const auto hello = client_hello("main");
    const auto changed = [&](std::size_t at, std::uint8_t byte) {
        auto bytes = hello;
        bytes[at] = byte;
        return bytes;
    };
    // Each is told why, in the protocol's own form, and cut off.
    const std::vector<Bytes> wrong{Bytes(64, 'G'),   changed(0, 'X'),   changed(4, 9),    changed(6, 2),
                                   changed(7, 0xff), changed(10, 0xff), changed(11, 200), changed(12, '/')};
    for (const auto& bytes : wrong) {
        auto peer = RawConnection::connect(port);
        peer.send(bytes);
        Bytes answer;
        EXPECT_TRUE(peer.read_to_the_end(answer));
        EXPECT_EQ(refusal_in(answer).reason, Refusal::bad_request) << refusal_in(answer).text;
    }
    EXPECT_EQ(server.metrics().refused, static_cast<std::int64_t>(wrong.size()));

    // Too slow with the hello, one byte after the other or nothing at all.
    auto silent = RawConnection::connect(port);
    auto slow = RawConnection::connect(port);
    const auto begin = Clock::now();
    for (const auto byte : hello) {
        if (!slow.send({&byte, 1}) || Clock::now() - begin > 5s) break;
        std::this_thread::sleep_for(100ms);
    }
    for (auto* late : {&silent, &slow}) {
        Bytes answer;
        EXPECT_TRUE(late->read_to_the_end(answer));
        EXPECT_EQ(refusal_in(answer).text, "no whole hello within 300 ms");
    }

    // Out of turn: a viewer has nothing more to say.
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

TEST(Server, HoldsOnlySoManyConnectionsInGreeting) {
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

// However many connections come and say nothing, and however often; from one address, and from many.
TEST(Server, SilentConnectionsKeepNobodyOut) {
    TestStream stream;
    stream.step();
    auto options = on_any_port();
    options.viewers_limit = 2;
    options.handshake_deadline = 1h;
    Server server(stream.state, options);
    const auto port = server.address().server.port;
    const auto hello = client_hello("main");
    std::vector<RawConnection> silent;
    for (const int addresses : {1, 100}) {
        // A viewer that is slow with its hello, and a flood from elsewhere meanwhile.
        auto slow = RawConnection::connect(port, 0, 2);
        ASSERT_TRUE(slow.send(ByteSpan(hello).first(3)));
        for (int i = 0; i < 200; ++i)
            silent.push_back(RawConnection::connect(port, 0, static_cast<std::uint8_t>(100 + i % addresses)));
        EXPECT_TRUE(slow.send(ByteSpan(hello).subspan(3)));
        const auto greeting = server_hello(stream.state.info());
        EXPECT_EQ(slow.read_exactly(greeting.size()), greeting);
        // One that comes from an address of the flood.
        auto quick = RawConnection::connect(port, 0, 100);
        ASSERT_TRUE(quick.send(hello));
        EXPECT_EQ(quick.read_exactly(greeting.size()), greeting);
        slow.close();
        quick.close();
        EXPECT_TRUE(eventually([&] { return server.metrics().viewers == 0; }));
    }
    EXPECT_EQ(server.metrics().viewers_total, 4);
}

TEST(Server, LogsOnlySoMuchOfWhatPeersDo) {
    const testing::CapturedLog log;
    TestStream stream;
    constexpr int times = 300;
    {
        Server server(stream.state, on_any_port());
        for (int i = 0; i < times; ++i) {
            auto viewer = RawConnection::connect(server.address().server.port);
            viewer.send(client_hello("main"));
            EXPECT_FALSE(viewer.read_exactly(preamble_bytes).empty());
            auto stranger = RawConnection::connect(server.address().server.port);
            stranger.send(client_hello("garden"));
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

// A stream whose pictures take until somebody says so.
class HeldUpStream : public StreamState {
public:
    HeldUpStream()
        : StreamState({{1, 8, 8, 3}, delta::Mode::exact, 20, {30, 1}, "held up"}, kit::executor(Backend::cpu)) {
        HostImage black(info().shape);
        kit::fill(black.view(), kit::Fill::zeros);
        start(black.view(), {});
    }
    StateMessage picture() override {
        gate_.wait();
        return StreamState::picture();
    }
    void release() { released_.set_value(); }

private:
    std::promise<void> released_;
    std::shared_future<void> gate_ = released_.get_future().share();
};

TEST(Server, KeepAlivesGoOnWhileAPictureIsPacked) {
    HeldUpStream stream;
    auto options = on_any_port();
    options.keep_alive = 20ms;
    options.write_deadline = 200ms;  // is over before the picture is there, through no fault of the viewer's
    Server server(stream, options);
    auto viewer = RawConnection::connect(server.address().server.port);
    ASSERT_TRUE(viewer.send(client_hello("main")));
    const auto hello = server_hello(stream.info());
    EXPECT_EQ(viewer.read_exactly(hello.size()), hello);
    const auto alive = empty_message(MessageType::alive);
    for (int i = 0; i < 20; ++i) EXPECT_EQ(viewer.read_exactly(header_bytes), alive) << i;
    stream.release();
    auto message = viewer.read_exactly(header_bytes);
    while (message == alive) message = viewer.read_exactly(header_bytes);
    ASSERT_FALSE(message.empty());
    EXPECT_EQ(message[0], static_cast<std::uint8_t>(MessageType::picture));
    EXPECT_EQ(server.metrics().dropped, 0);
}

// Each would keep a picture of its own in memory, for each asks for it at another version.
TEST(Server, ViewersThatDoNotReadKeepOnlySoMuchInMemory) {
    const testing::CapturedLog log;
    TestStream stream({1, 480, 640, 3}, delta::Mode::lossless, 60);
    auto options = on_any_port();
    options.write_deadline = 1h;
    const auto picture_bytes = static_cast<std::size_t>(stream.state.info().shape.frame_bytes());
    options.pinned_limit_bytes = 3 * picture_bytes;
    Server server(stream.state, options);
    std::vector<RawConnection> stuck;
    constexpr int viewers = 10;
    for (int i = 0; i < viewers; ++i) {
        stream.step();
        server.publish();
        stuck.push_back(stuck_in_a_picture(server, stream.state.info()));
        const auto pinned = server.metrics().pinned_bytes;
        EXPECT_LE(pinned, static_cast<std::int64_t>(options.pinned_limit_bytes));
        EXPECT_GT(pinned, static_cast<std::int64_t>(picture_bytes / 2)) << "or this test tells nothing";
    }
    EXPECT_GE(server.metrics().dropped, viewers - 5);
    EXPECT_EQ(server.metrics().viewers, viewers - server.metrics().dropped);
    EXPECT_NE(
        log.text().find(fmt::format("dropped: it is the slowest, and what waits for viewers takes more than the {} "
                                    "bytes allowed",
                                    options.pinned_limit_bytes)),
        std::string::npos)
        << log.text();
    Client honest(server.address());
    for (int i = 0; i < 5; ++i) {
        stream.step();
        server.publish();
        follow(honest, static_cast<std::uint64_t>(stream.frames()));
        expect_equal(honest.picture(), stream.reference());
    }
    stuck.clear();
    EXPECT_TRUE(eventually([&] { return server.metrics().pinned_bytes == 0; }));
}

TEST(Server, CountsWhatWasTaken) {
    TestStream stream({1, 480, 640, 3}, delta::Mode::lossless, 60);
    stream.step();
    Server server(stream.state, on_any_port());
    auto viewer = stuck_in_a_picture(server, stream.state.info());
    const auto before = server.metrics();
    EXPECT_EQ(before.pictures, 0);
    EXPECT_EQ(before.picture_bytes, 0);
    EXPECT_EQ(before.other_bytes, static_cast<std::int64_t>(server_hello(stream.state.info()).size()));
    const auto size = stream.state.picture().bytes->size();
    EXPECT_EQ(viewer.read_exactly(size - header_bytes).size(), size - header_bytes);
    EXPECT_TRUE(eventually([&] { return server.metrics().pictures == 1; }));
    EXPECT_EQ(server.metrics().picture_bytes, static_cast<std::int64_t>(size));
}

TEST(Server, WaitsForViewersUntilTold) {
    TestStream stream;
    Server server(stream.state, on_any_port());
    std::stop_source stop;
    auto waiting = std::async(std::launch::async, [&] { return server.wait_for_viewers(1, stop.get_token()); });
    EXPECT_EQ(waiting.wait_for(50ms), std::future_status::timeout);
    stop.request_stop();
    EXPECT_FALSE(waiting.get());
    Client client(server.address());
    EXPECT_TRUE(server.wait_for_viewers(1, {}));
}

TEST(Server, FinishCutsOffWhoTakesTooLong) {
    TestStream stream({1, 480, 640, 3}, delta::Mode::lossless, 60);
    auto options = on_any_port();
    options.write_deadline = 1h;  // on a slow machine the steps take a while
    Server server(stream.state, options);
    auto stuck = RawConnection::connect(server.address().server.port, 4096);
    ASSERT_TRUE(stuck.send(client_hello("main")));
    ASSERT_TRUE(server.wait_for_viewers(1, {}));
    for (int i = 0; i < 20; ++i) {
        stream.step();
        server.publish();
    }
    const auto begin = Clock::now();
    EXPECT_EQ(server.finish(300ms), 1);
    EXPECT_LT(Clock::now() - begin, 5s);
    expect_code(ErrorCode::no_input, "there is no stream", [&] { Client client(server.address()); });
}

TEST(Server, FinishWaitsForNobodyWhoIsNoViewer) {
    TestStream stream;
    auto options = on_any_port();
    options.handshake_deadline = options.write_deadline = 1h;
    Server server(stream.state, options);
    auto silent = RawConnection::connect(server.address().server.port);
    auto refused = RawConnection::connect(server.address().server.port);
    refused.send(client_hello("garden"));
    EXPECT_FALSE(refused.read_exactly(preamble_bytes).empty());
    auto ending = std::async(std::launch::async, [&] { return server.finish(1h); });
    EXPECT_EQ(ending.wait_for(20s), std::future_status::ready);
    silent.close();
    refused.close();
    EXPECT_EQ(ending.get(), 0);
}

TEST(Server, FinishTellsWhoWasAboutToGreet) {
    TestStream stream;
    Server server(stream.state, on_any_port());
    auto silent = RawConnection::connect(server.address().server.port);
    Client viewer(server.address());  // so the one before was taken
    auto ending = std::async(std::launch::async, [&] { return server.finish(10s); });
    Bytes answer;
    EXPECT_TRUE(silent.read_to_the_end(answer));
    EXPECT_EQ(refusal_in(answer).text, "the stream has come to its end");
    EXPECT_FALSE(viewer.next());
    EXPECT_EQ(ending.get(), 0);
}

TEST(Server, FinishTellsAFailure) {
    TestStream stream;
    Server server(stream.state, on_any_port());
    Client client(server.address());
    stream.step();
    auto ending = std::async(std::launch::async, [&] { return server.finish(10s, "the source was lost"); });
    ASSERT_TRUE(client.next());
    expect_equal(client.picture(), stream.reference());
    {
        auto leaving = std::move(client);
        expect_code(ErrorCode::source_lost, "the server says: the source was lost", [&] { leaving.next(); });
    }
    EXPECT_EQ(ending.get(), 0);
}

TEST(Server, ViewersThatGoAreForgotten) {
    TestStream stream;
    Server server(stream.state, on_any_port());
    stream.step();
    for (int i = 0; i < 20; ++i) {
        Client client(server.address());
        ASSERT_TRUE(client.next());
    }
    EXPECT_TRUE(eventually([&] { return server.metrics().viewers == 0; }));
    stream.step();
    EXPECT_EQ(stream.state.counts().steps, 0) << "packed for nobody";
    EXPECT_EQ(server.metrics().viewers_total, 20);
}

TEST(Server, ListensOnIpv6AndNames) {
    TestStream stream;
    stream.step();
    for (const char* host : {"::1", "localhost"}) {
        auto options = on_any_port();
        options.listen.host = host;
        try {
            Server server(stream.state, options);
            Client client(server.address());
            EXPECT_TRUE(client.next());
        } catch (const Error& error) {
            // A machine may be without IPv6; a name for loopback it has.
            if (std::string(host) == "localhost") throw;
            EXPECT_EQ(error.code(), ErrorCode::config) << error.what();
        }
    }
}

TEST(Server, DoesNotWaitForAResolverThatHangs) {
    TestStream stream;
    const testing::BlockedLookup blocked;
    auto options = on_any_port();
    options.listen.host = "camera.test";
    options.lookup = blocked.lookup();
    options.lookup_deadline = 20ms;
    expect_code(ErrorCode::config, "cannot listen on camera.test:0: the name is not resolved",
                [&] { Server server(stream.state, options); });
    options.lookup_deadline = 1h;
    std::stop_source stop;
    stop.request_stop();
    expect_code(ErrorCode::config, "cannot listen on camera.test:0",
                [&] { Server server(stream.state, options, stop.get_token()); });
}

TEST(Server, SaysWhyItCannotListen) {
    TestStream stream;
    Server first(stream.state, on_any_port());
    auto options = on_any_port();
    options.listen.port = first.address().server.port;
    expect_code(ErrorCode::config, "cannot listen on 127.0.0.1:", [&] { Server second(stream.state, options); });
    options.listen = {"192.0.2.1", 0};  // an address of documentation (RFC 5737), nobody's
    expect_code(ErrorCode::config, "cannot listen on 192.0.2.1:0", [&] { Server second(stream.state, options); });
    options = on_any_port();
    options.viewers_limit = 0;
    expect_code(ErrorCode::usage, "a limit of 0 viewers", [&] { Server second(stream.state, options); });
    options = on_any_port();
    options.greeting_limit_per_peer = 0;
    expect_code(ErrorCode::usage, "a limit of 0 greeting connections", [&] { Server second(stream.state, options); });
    options = on_any_port();
    options.stream = "a/b";
    expect_code(ErrorCode::usage, "a/b", [&] { Server second(stream.state, options); });
}

}  // namespace
}  // namespace framewire::net
