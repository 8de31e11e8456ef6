// Tests the camera's log and the checks on pixels: they must find planted errors.

#include "network/camera/bound_check.hpp"
#include "network/camera/frame_log.hpp"
#include "network/camera/stamp.hpp"

#include "e2e/program.hpp"

#include "framewire/core/buffer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <thread>

namespace framewire::network {
namespace {

using namespace std::chrono_literals;

const Shape shape{1, 24, 130, 3};

void fill(HostView<std::uint8_t> picture, int value) {
    std::fill_n(picture.data(), picture.shape().bytes(), static_cast<std::uint8_t>(value));
}

TEST(Stamp, SurvivesAThresholdAndDetectsMixedFrames) {
    HostImage picture(shape), other(shape);
    for (const std::uint32_t number : {1u, 2u, 1234567u, stamp_numbers - 1}) {
        fill(picture.view(), 77);
        draw_stamp(picture.view(), number);
        for (std::int64_t byte = 0; byte < shape.bytes(); ++byte) {
            auto& value = picture.view().data()[byte];
            value = static_cast<std::uint8_t>(std::clamp(value + (byte % 2 ? 60 : -60), 0, 255));
        }
        EXPECT_EQ(read_stamp(picture.view()), number);
    }
    draw_stamp(picture.view(), 0x000100);
    draw_stamp(other.view(), 0x0000ff);
    for (int y = 8; y < stamp_height_px; ++y)
        std::copy_n(other.view().row(0, y), shape.row_bytes(), picture.view().row(0, y));
    EXPECT_EQ(read_stamp(picture.view()), std::nullopt);
    for (const int value : {0, 255}) {
        fill(picture.view(), value);
        EXPECT_EQ(read_stamp(picture.view()), std::nullopt) << value;
    }
}

TEST(FrameLog, KeepsTheLastFramesForReaders) {
    const e2e::TemporaryFolder folder;
    FrameLog written(folder / "log", shape, 5);
    const FrameLog read(folder / "log");
    EXPECT_EQ(read.shape(), shape);
    EXPECT_EQ(read.newest(), 0u);
    EXPECT_EQ(read.captured(1), std::nullopt);
    const auto begin = Clock::now();
    for (int frame = 1; frame <= 7; ++frame) {
        fill(written.next_pixels(), frame);
        written.add();
    }
    EXPECT_EQ(read.newest(), 7u);
    EXPECT_EQ(read.pixels(8), nullptr);
    EXPECT_EQ(read.pixels(3), nullptr) << "its slot is reused for the next frame";
    for (std::uint32_t frame = 4; frame <= 7; ++frame) {
        ASSERT_NE(read.pixels(frame), nullptr);
        EXPECT_EQ(read.pixels(frame)[shape.bytes() - 1], frame);
    }
    EXPECT_GE(*read.captured(1), begin);
    EXPECT_LE(*read.captured(1), *read.captured(7));
    EXPECT_EQ(FrameLog(folder / "log", shape, 5).newest(), 7u) << "the log continues";
    EXPECT_THROW(FrameLog(folder / "log", Shape{1, 24, 131, 3}, 5), std::runtime_error);
    EXPECT_THROW(FrameLog(folder / "none"), std::runtime_error);
}

TEST(BoundCheck, DetectsBytesOutsideTheBoundOfTheirFrame) {
    const e2e::TemporaryFolder folder;
    FrameLog log(folder / "log", shape, 8);
    BoundCheck check(log);
    for (const int value : {100, 150}) {
        fill(log.next_pixels(), value);
        draw_stamp(log.next_pixels(), log.newest() + 1);
        log.add();
    }
    HostImage shown(shape);
    std::copy_n(log.pixels(2), shape.bytes(), shown.view().data());
    const auto now = Clock::now();
    const auto finding = [&](int threshold, double window_ms = 1e6) {
        return check.check(shown.view(), threshold, window_ms, now);
    };
    EXPECT_EQ(finding(0).outside, 0);
    EXPECT_EQ(finding(0).stamped, 2u);
    EXPECT_EQ(finding(0).age_ms, milliseconds(*log.captured(2), now));
    shown.view().row(0, 20)[70] = 158;
    EXPECT_EQ(finding(8).outside, 0);
    EXPECT_EQ(finding(7).outside, 1);
    shown.view().row(0, 20)[70] = 100;
    EXPECT_EQ(finding(20).outside, 1) << "the byte is from another frame";
    shown.view().row(0, 20)[70] = 150;
    EXPECT_GT(check.check(shown.view(), 7, 1, now + 2s).outside, shape.bytes() / 2) << "the frame is too old";
}

}  // namespace
}  // namespace framewire::network
