#include "framewire/net/server.hpp"
#include "framewire/core/error.hpp"
#include "framewire/net/client.hpp"
#include "framewire/net/testing/test_hello.hpp"
#include "framewire/net/testing/test_server.hpp"
#include "framewire/net/testing/test_stream.hpp"
#include "framewire/net/testing/test_tcp.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <optional>
#include <vector>

namespace framewire::net {
namespace {

using namespace std::chrono_literals;
using testing::expect_code;
using testing::expect_equal;
using testing::follow;
using testing::hello_for;
using testing::on_any_port;
using testing::RawConnection;
using testing::TestStream;

TEST(Server, ViewerMatchesTheEncoderAfterEveryFrame) {
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
    EXPECT_EQ(client.counts().received.keyframes, 1);
    EXPECT_EQ(client.counts().received.changes, 39);

    auto ending = std::async(std::launch::async, [&] { return server.finish(10s); });
    EXPECT_FALSE(client.next());
    EXPECT_FALSE(client.next()) << "an ended stream must stay ended";
    EXPECT_EQ(ending.get(), 0);
    const auto metrics = server.metrics();
    EXPECT_EQ(metrics.viewers, 0);
    EXPECT_EQ(metrics.viewers_total, 1);
    EXPECT_EQ(metrics.dropped, 0);
    EXPECT_EQ(metrics.keyframes, 1);
    EXPECT_EQ(metrics.delta_frames, 39);
    EXPECT_EQ(metrics.keyframe_bytes + metrics.delta_frame_bytes + metrics.other_bytes, client.counts().bytes);
}

TEST(Server, LateViewerStartsWithAKeyframe) {
    TestStream stream;
    Server server(stream.state, on_any_port());
    for (int i = 0; i < 20; ++i) stream.step();
    EXPECT_EQ(stream.state.counts().keyframes, 0) << "no viewer was connected";
    Client client(server.address());
    ASSERT_TRUE(client.next());
    EXPECT_EQ(client.state().version, 20u);
    expect_equal(client.picture(), stream.reference());
}

TEST(Server, AllViewersEndWithTheSamePicture) {
    for (const auto mode : {codec::Mode::exact, codec::Mode::lossless}) {
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
        if (mode == codec::Mode::lossless) expect_equal(stream.reference(), stream.current());
    }
}

TEST(Server, WaitsForViewersUntilStopped) {
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

TEST(Server, FinishDisconnectsSlowViewers) {
    TestStream stream({1, 480, 640, 3}, codec::Mode::lossless, 60);
    auto options = on_any_port();
    options.write_deadline = 1h;  // step() can be slow on a busy machine
    Server server(stream.state, options);
    auto stuck = RawConnection::connect(server.address().server.port, 4096);
    ASSERT_TRUE(stuck.send(hello_for("main")));
    ASSERT_TRUE(server.wait_for_viewers(1, {}));
    for (int i = 0; i < 20; ++i) {
        stream.step();
        server.publish();
    }
    const auto begin = Clock::now();
    EXPECT_EQ(server.finish(300ms), 1);
    EXPECT_LT(Clock::now() - begin, 5s);
    expect_code(ErrorCode::no_input, "cannot open tcp://127.0.0.1:", [&] { Client client(server.address()); });
}

TEST(Server, FinishSendsTheErrorToViewers) {
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

using namespace std::chrono_literals;
using testing::expect_code;
using testing::expect_equal;
using testing::follow;
using testing::on_any_port;
using testing::TestStream;

TEST(Listener, RequiresATokenOnPublicAddresses) {
    TestStream stream;
    auto options = on_any_port();
    options.listen.host = "0.0.0.0";
    expect_code(ErrorCode::usage, "listening on 0.0.0.0:0, which other machines can reach, requires a token",
                [&] { Listener listener(options); });
    options.open = true;
    EXPECT_NO_THROW(Listener{options});
    options.open = false;
    options.token = "too short";
    expect_code(ErrorCode::usage, "invalid token in", [&] { Listener listener(options); });
    options.token = "correct-horse-battery";
    Listener listener(options);
    const auto served = listener.add("main", stream.state);
    auto address = served.address();
    address.server.host = "127.0.0.1";
    EXPECT_EQ(Client(address, {.token = options.token}).info().source, "a test");
    expect_code(ErrorCode::no_input, "the token is wrong",
                [&] { Client client(address, {.token = "another-horse-battery"}); });
}

// Two streams of different shapes and modes on one port. One ends while the other continues.
TEST(Listener, ServesDifferentStreamsOnOnePort) {
    TestStream yard({1, 60, 80, 3}), roof({1, 31, 47, 1}, codec::Mode::lossless);
    Listener listener(on_any_port());
    auto yard_stream = listener.add("yard", yard.state), roof_stream = listener.add("roof", roof.state);
    EXPECT_EQ(yard_stream.address().server.port, listener.address().port);
    EXPECT_EQ(roof_stream.address().server.port, listener.address().port);
    EXPECT_EQ(roof_stream.address().stream, "roof");
    Client yard_client(yard_stream.address()), other_yard_client(yard_stream.address());
    Client roof_client(roof_stream.address());
    EXPECT_EQ(yard_client.info().shape, yard.state.info().shape);
    EXPECT_EQ(roof_client.info().shape, roof.state.info().shape);
    EXPECT_EQ(roof_client.info().threshold, 0);
    ASSERT_TRUE(yard_stream.wait_for_viewers(2, {}));
    ASSERT_TRUE(roof_stream.wait_for_viewers(1, {}));

    const auto step_yard = [&](std::uint64_t version) {
        yard.step();
        yard_stream.publish();
        for (auto* client : {&yard_client, &other_yard_client}) {
            follow(*client, version);
            expect_equal(client->picture(), yard.reference());
        }
    };
    for (std::uint64_t version = 1; version <= 20; ++version) {
        roof.step();
        roof_stream.publish();
        step_yard(version);
        follow(roof_client, version);
        expect_equal(roof_client.picture(), roof.reference());
        expect_equal(roof_client.picture(), roof.current());
    }

    auto ending = std::async(std::launch::async, [&] { return roof_stream.finish(10s); });
    EXPECT_FALSE(roof_client.next());
    EXPECT_EQ(ending.get(), 0);
    expect_code(ErrorCode::no_input, "the stream has ended", [&] { Client late(roof_stream.address()); });
    for (std::uint64_t version = 21; version <= 40; ++version) step_yard(version);
    Client late(yard_stream.address());
    ASSERT_TRUE(late.next());
    expect_equal(late.picture(), yard.reference());

    EXPECT_EQ(roof_stream.metrics().viewers, 0);
    EXPECT_EQ(roof_stream.metrics().viewers_total, 1);
    EXPECT_EQ(roof_stream.metrics().delta_frames, 19);
    EXPECT_EQ(yard_stream.metrics().viewers, 3);
    EXPECT_EQ(yard_stream.metrics().delta_frames, 78);
    EXPECT_EQ(listener.metrics().delta_frames, 97);
    EXPECT_EQ(listener.metrics().viewers_total, 4);
    EXPECT_EQ(listener.metrics().refused, 1);
    EXPECT_EQ(listener.metrics().dropped, 0);
}

TEST(Listener, ListsTheStreamsIfOneIsUnknown) {
    TestStream stream;
    Listener listener(on_any_port());
    const StreamAddress roof{listener.address(), "roof"};
    expect_code(ErrorCode::no_input, "there is no stream 'roof' here; available: none", [&] { Client client(roof); });
    const auto yard = listener.add("yard", stream.state), garden = listener.add("garden", stream.state);
    expect_code(ErrorCode::no_input, "there is no stream 'roof' here; available: 'garden', 'yard'",
                [&] { Client client(roof); });
    expect_code(ErrorCode::usage, "a stream 'yard' already exists", [&] { listener.add("yard", stream.state); });
    expect_code(ErrorCode::usage, "a/b", [&] { listener.add("a/b", stream.state); });
}

TEST(Listener, AddsAndRemovesStreamsWhileRunning) {
    Listener listener(on_any_port());
    TestStream lasting;
    lasting.step();
    const auto lasting_stream = listener.add("lasting", lasting.state);
    Client lasting_client(lasting_stream.address());
    ASSERT_TRUE(lasting_client.next());
    for (int round = 1; round <= 3; ++round) {
        TestStream passing({1, 8 * round, 9, 3});
        passing.step();
        std::optional<ServedStream> stream(listener.add("passing", passing.state));
        const auto address = stream->address();
        Client client(address);
        EXPECT_EQ(client.info().shape.height, 8 * round);
        ASSERT_TRUE(client.next());
        expect_equal(client.picture(), passing.reference());
        stream.reset();
        expect_code(ErrorCode::source_lost, "was lost", [&] { client.next(); });
        expect_code(ErrorCode::no_input, "available: 'lasting'", [&] { Client late(address); });
    }
    EXPECT_EQ(lasting_stream.metrics().viewers, 1);
    EXPECT_EQ(listener.metrics().viewers, 1);
    EXPECT_EQ(listener.metrics().viewers_total, 4);
}

TEST(Listener, LimitsViewersAcrossAllStreams) {
    TestStream stream;
    auto options = on_any_port();
    options.viewers_limit = 2;
    Listener listener(options);
    const auto yard = listener.add("yard", stream.state), roof = listener.add("roof", stream.state);
    const Client first(yard.address()), second(roof.address());
    for (const auto* one_more : {&yard, &roof})
        expect_code(ErrorCode::no_input, "the limit of 2 viewers has been reached",
                    [&] { Client client(one_more->address()); });
}

TEST(Listener, KeepsItsViewersAfterClose) {
    TestStream stream;
    stream.step();
    Listener listener(on_any_port());
    auto served = listener.add("main", stream.state);
    Client client(served.address());
    ASSERT_TRUE(client.next());
    listener.close("closing time");
    expect_code(ErrorCode::no_input, "cannot open tcp://127.0.0.1:", [&] { Client late(served.address()); });
    stream.step();
    served.publish();
    follow(client, 2);
    expect_equal(client.picture(), stream.reference());
}

}  // namespace
}  // namespace framewire::net
