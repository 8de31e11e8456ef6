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
#include <future>
#include <vector>

namespace framewire::net {
namespace server_test {

using namespace std::chrono_literals;
using testing::expect_code;
using testing::expect_equal;
using testing::follow;
using testing::hello_for;
using testing::on_any_port;
using testing::RawConnection;
using testing::TestStream;

TEST(Server, ViewerHoldsTheEncodersPicture) {
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

TEST(Server, LateViewerStartsWithAKeyframe) {
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
    TestStream stream({1, 480, 640, 3}, delta::Mode::lossless, 60);
    auto options = on_any_port();
    options.write_deadline = 1h;  // the steps can be slow on a slow machine
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
    expect_code(ErrorCode::no_input, "there is no stream", [&] { Client client(server.address()); });
}

TEST(Server, FinishSendsTheFailure) {
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

}  // namespace server_test
}  // namespace framewire::net
