#include "framewire/net/viewers.hpp"
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
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace framewire::net {
namespace {

using namespace std::chrono_literals;
using testing::eventually;
using testing::expect_equal;
using testing::follow;
using testing::greeting_of;
using testing::hello_for;
using testing::hello_of;
using testing::on_any_port;
using testing::picture_of;
using testing::RawConnection;
using testing::stuck_in_a_picture;
using testing::TestStream;

// One viewer reads nothing. The other still receives every picture at once, and only one message is pending for the
// first.
TEST(Server, SlowViewerSkipsWithoutDelayingOthers) {
    TestStream stream({1, 240, 320, 3}, codec::Mode::lossless, 60);  // about 200 kB of noise per delta frame
    auto options = on_any_port();
    options.write_deadline = 5min;  // step() can be slow on a busy machine
    Server server(stream.state, options);
    Client slow(server.address()), quick(server.address());
    ASSERT_TRUE(server.wait_for_viewers(2, {}));

    constexpr std::uint64_t versions = 100;
    for (std::uint64_t version = 1; version <= versions; ++version) {
        stream.step();
        server.publish();
        follow(quick, version);
        expect_equal(quick.picture(), stream.reference());
    }
    EXPECT_EQ(quick.counts().received.skipped, 0);

    // Now the slow viewer reads the message in progress and then the newest picture, and nothing in between.
    auto ending = std::async(std::launch::async, [&] { return server.finish(20s); });
    while (slow.next()) {
    }
    while (quick.next()) {
    }
    EXPECT_EQ(ending.get(), 0);
    EXPECT_EQ(slow.state().version, versions);
    expect_equal(slow.picture(), stream.reference());
    EXPECT_GT(slow.counts().received.skipped, 50);
    EXPECT_GT(server.metrics().skipped, 50);
    EXPECT_LT(slow.counts().bytes, 20 * stream.state.info().shape.bytes());
}

TEST(Server, StuckViewerIsDropped) {
    TestStream stream({1, 300, 400, 3}, codec::Mode::lossless, 60);
    auto options = on_any_port();
    options.write_deadline = 300ms;
    options.keep_alive = 100ms;
    Server server(stream.state, options);
    auto stuck = RawConnection::connect(server.address().server.port, 4096);
    ASSERT_TRUE(stuck.send(hello_for("main")));
    ASSERT_TRUE(server.wait_for_viewers(1, {}));
    EXPECT_TRUE(eventually([&] {
        stream.step();
        server.publish();
        return server.metrics().dropped == 1;
    }));
    EXPECT_EQ(server.metrics().viewers, 0);
}

// A stream whose keyframes are encoded only when the test releases them.
class HeldUpStream : public StreamState {
public:
    HeldUpStream() : StreamState({{1, 8, 8, 3}, codec::Mode::exact, 20, {30, 1}, "held up"}) {
        HostImage black(info().shape);
        kit::fill(black.view(), kit::Fill::zeros);
        start(black.view(), {});
    }
    std::shared_ptr<const WholeState> whole(codec::BlockSet wanted, std::uint64_t changed_after) override {
        gate_.wait();
        return StreamState::whole(std::move(wanted), changed_after);
    }
    void release() { released_.set_value(); }

private:
    std::promise<void> released_;
    std::shared_future<void> gate_ = released_.get_future().share();
};

TEST(Server, KeepAlivesContinueWhileAKeyframeIsEncoded) {
    HeldUpStream stream;
    auto options = on_any_port();
    options.keep_alive = 20ms;
    options.write_deadline = 200ms;  // expires before the keyframe is available, but must not drop the viewer
    Server server(stream, options);
    auto viewer = RawConnection::connect(server.address().server.port);
    ASSERT_TRUE(viewer.send(hello_for("main")));
    const auto hello = greeting_of(stream);
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

// A server that waits for first states continues only after the viewer has received its first keyframe.
TEST(Server, WaitsUntilViewersReceiveTheirFirstState) {
    HeldUpStream stream;
    Server server(stream, on_any_port());
    Client client(server.address());
    ASSERT_TRUE(server.wait_for_viewers(1, {}));
    auto pictures = std::async(std::launch::async, [&] {
        EXPECT_TRUE(server.wait_for_first_states(1, {}));
        return server.metrics().keyframes;
    });
    EXPECT_EQ(pictures.wait_for(0s), std::future_status::timeout);
    stream.release();
    EXPECT_TRUE(client.next());
    EXPECT_EQ(pictures.get(), 1);
}

TEST(Server, DoesNotWaitForFirstStatesOfViewersThatLeft) {
    HeldUpStream stream;
    Server server(stream, on_any_port());
    std::stop_source stop;
    auto stopped = std::async(std::launch::async, [&] { return server.wait_for_first_states(2, stop.get_token()); });
    EXPECT_TRUE(stopped.get()) << "no viewer is connected";
    std::optional<Client> client(server.address());
    ASSERT_TRUE(server.wait_for_viewers(1, {}));
    auto waiting = std::async(std::launch::async, [&] { return server.wait_for_first_states(2, {}); });
    stopped = std::async(std::launch::async, [&] { return server.wait_for_first_states(2, stop.get_token()); });
    stop.request_stop();
    EXPECT_FALSE(stopped.get()) << "the keyframe has not been sent";
    client.reset();
    EXPECT_TRUE(waiting.get());
    stream.release();
}

// Each viewer connects at a different version, so each would keep a separate keyframe in memory.
TEST(Server, LimitsMemoryPinnedByStuckViewers) {
    const kit::CapturedLog log;
    TestStream stream({1, 300, 400, 3}, codec::Mode::lossless, 60);
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
        stuck.push_back(stuck_in_a_picture(server, stream.state));
        const auto pinned = server.metrics().pinned_bytes;
        EXPECT_LE(pinned, static_cast<std::int64_t>(options.pinned_limit_bytes));
        EXPECT_GT(pinned, static_cast<std::int64_t>(picture_bytes / 2)) << "too few pending bytes for this test";
    }
    EXPECT_GE(server.metrics().dropped, viewers - 5);
    EXPECT_EQ(server.metrics().viewers, viewers - server.metrics().dropped);
    EXPECT_NE(log.text().find(fmt::format(
                  "dropped: it is the slowest viewer, and the data pending for all viewers exceeds {} bytes",
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

TEST(Server, CountsAKeyframeAfterItIsFullySent) {
    TestStream stream({1, 300, 400, 3}, codec::Mode::lossless, 60);
    stream.step();
    Server server(stream.state, on_any_port());
    auto viewer = stuck_in_a_picture(server, stream.state);
    const auto before = server.metrics();
    EXPECT_EQ(before.keyframes, 0);
    EXPECT_EQ(before.keyframe_bytes, 0);
    EXPECT_EQ(before.other_bytes, static_cast<std::int64_t>(greeting_of(stream.state).size()));
    const auto size = picture_of(stream.state).bytes->size();
    EXPECT_EQ(viewer.read_exactly(size - header_bytes).size(), size - header_bytes);
    EXPECT_TRUE(eventually([&] { return server.metrics().keyframes == 1; }));
    EXPECT_EQ(server.metrics().keyframe_bytes, static_cast<std::int64_t>(size));
}

TEST(Server, ForgetsViewersThatLeave) {
    TestStream stream;
    Server server(stream.state, on_any_port());
    stream.step();
    for (int i = 0; i < 20; ++i) {
        Client client(server.address());
        ASSERT_TRUE(client.next());
    }
    EXPECT_TRUE(eventually([&] { return server.metrics().viewers == 0; }));
    stream.step();
    EXPECT_EQ(stream.state.counts().delta_frames, 0) << "a delta frame was packed without viewers";
    EXPECT_EQ(server.metrics().viewers_total, 20);
}

}  // namespace
}  // namespace framewire::net
