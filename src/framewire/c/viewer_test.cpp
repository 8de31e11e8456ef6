// Tests of fw_viewer with a server in this process.

#include "framewire/c/c_testing.hpp"
#include "framewire/net/server.hpp"
#include "framewire/plan/stream_encoder.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

namespace framewire::c {
namespace {

// A stream with a server in this process, of frames whose bytes are all equal.
TEST(CViewer, ViewersShowTheServersPicture) {
    Executor executor(BackendChoice::cpu);
    const Shape shape{1, 48, 64, 3};
    StreamEncoder encoder({.threshold = 10}, shape, executor);
    net::StreamState state({shape, codec::Mode::exact, 10, {25, 1}, "test"}, encoder.reference());
    net::Server server(state, {{.listen = {"127.0.0.1", 0}}});
    const auto url = net::to_string(server.address());
    fw_viewer_options options{};
    options.size = sizeof options, options.timeout_seconds = 20;
    const auto viewer = made<fw_viewer>([&](auto** made) { return fw_viewer_connect(made, url.c_str(), &options); });
    fw_info info{};
    info.size = sizeof info;
    fw_image format{};
    format.size = sizeof format;
    FW_OK_OR_FAIL(fw_viewer_info(viewer.get(), &format, &info));
    EXPECT_EQ(std::tie(format.format, format.width, format.height, info.threshold, info.live),
              std::make_tuple(FW_BGR, 64, 48, 10, 1));
    EXPECT_EQ(info.rate_numerator, 25);
    ASSERT_TRUE(server.wait_for_viewers(1, {}));
    Frame frame(shape, executor);
    for (int number = 0; number < 3; ++number) {
        std::memset(frame.host().data(), 50 * number + 7, static_cast<std::size_t>(shape.bytes()));
        const FrameTime time{.index = number, .seconds = number / 25.0, .captured = Clock::now()};
        {
            net::StreamState::Update update(state);
            const auto encoded = encoder.encode(frame, codec::PackAs::delta_frame);
            const std::vector<Component> objects{{1, number, 2, 3, 4, 12, 0, 0}};
            encoded.whole ? update.start(time, objects, encoded.packed) : update.advance(encoded.packed, time, objects);
        }
        server.publish();
        Picture seen(description(FW_BGR, 64, 48), 5);
        fw_view view{};
        view.size = sizeof view;
        FW_OK_OR_FAIL(fw_viewer_next(viewer.get(), &seen.image, &view));
        EXPECT_EQ(kit::first_difference(seen.view(), frame.host()), std::nullopt);
        EXPECT_EQ(view.index, number);
        EXPECT_DOUBLE_EQ(view.seconds, number / 25.0);
        EXPECT_EQ(view.threshold, 10);
        const fw_box* boxes = nullptr;
        std::size_t count = 0;
        FW_OK_OR_FAIL(fw_viewer_boxes(viewer.get(), &boxes, &count));
        ASSERT_EQ(count, 1u);
        EXPECT_EQ(std::tie(boxes->x, boxes->y, boxes->width, boxes->height, boxes->area),
                  std::make_tuple(number, 2, 3, 4, 12));
        EXPECT_REFUSED(fw_viewer_boxes(viewer.get(), nullptr, &count), "boxes is NULL");
        EXPECT_REFUSED(fw_viewer_boxes(viewer.get(), &boxes, nullptr), "count is NULL");
    }
    Picture wrong(description(FW_GRAY, 64, 48));
    EXPECT_REFUSED(fw_viewer_next(viewer.get(), &wrong.image, nullptr), "must be 64x48 BGR");
    fw_view unsized{};
    EXPECT_REFUSED(fw_viewer_next(viewer.get(), nullptr, &unsized), "view.size is 0");
    // another thread ends the wait for a frame that never comes
    auto next = std::async(std::launch::async, [&] { return fw_viewer_next(viewer.get(), nullptr, nullptr); });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    FW_OK_OR_FAIL(fw_viewer_stop(viewer.get()));
    EXPECT_EQ(next.get(), FW_END);
    server.finish(std::chrono::seconds(1));
}

TEST(CViewer, ViewersRefuseWrongArguments) {
    fw_viewer* none = nullptr;
    EXPECT_REFUSED(fw_viewer_connect(nullptr, "tcp://127.0.0.1:1", nullptr), "viewer is NULL");
    EXPECT_REFUSED(fw_viewer_connect(&none, nullptr, nullptr), "url is NULL");
    EXPECT_EQ(fw_viewer_connect(&none, "tpc://127.0.0.1:1", nullptr), FW_ERROR_ARGUMENT);
    EXPECT_EQ(fw_viewer_connect(&none, "tcp://127.0.0.1:1", nullptr), FW_ERROR_NO_INPUT);
    fw_viewer_options options{};
    EXPECT_REFUSED(fw_viewer_connect(&none, "tcp://127.0.0.1:1", &options), "options.size is 0");
    options.size = sizeof options, options.timeout_seconds = -1;
    EXPECT_REFUSED(fw_viewer_connect(&none, "tcp://127.0.0.1:1", &options), "options->timeout_seconds is -1");
    options.timeout_seconds = 0, options.reconnect_seconds = NAN;
    EXPECT_REFUSED(fw_viewer_connect(&none, "tcp://127.0.0.1:1", &options), "options->reconnect_seconds is");
    options.reconnect_seconds = 0, options.fingerprint = "12";
    EXPECT_EQ(fw_viewer_connect(&none, "tls://127.0.0.1:1", &options), FW_ERROR_ARGUMENT);
    fw_info info{};
    fw_view view{};
    const fw_box* boxes = nullptr;
    std::size_t count = 0;
    EXPECT_REFUSED(fw_viewer_info(nullptr, nullptr, &info), "viewer is NULL");
    EXPECT_REFUSED(fw_viewer_next(nullptr, nullptr, &view), "viewer is NULL");
    EXPECT_REFUSED(fw_viewer_boxes(nullptr, &boxes, &count), "viewer is NULL");
    EXPECT_REFUSED(fw_viewer_stop(nullptr), "viewer is NULL");
    fw_viewer_close(nullptr);
}

}  // namespace
}  // namespace framewire::c
