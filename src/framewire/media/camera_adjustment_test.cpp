#include "framewire/media/camera_adjustment.hpp"

#include "framewire/core/error.hpp"

#include <gtest/gtest.h>

#include <linux/videodev2.h>

#include <cerrno>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>

namespace framewire {
namespace {

// A camera with the controls given and nothing else; counts how often one is set.
struct FakeCamera {
    std::map<std::uint32_t, v4l2_queryctrl> controls;
    std::map<std::uint32_t, std::int32_t> values;
    int writes = 0;
    bool refuses = false;

    void add(std::uint32_t id, int minimum, int maximum, int step, int default_value, std::uint32_t flags = 0) {
        v4l2_queryctrl control{};
        control.id = id;
        control.type = V4L2_CTRL_TYPE_INTEGER;
        control.minimum = minimum;
        control.maximum = maximum;
        control.step = step;
        control.default_value = default_value;
        control.flags = flags;
        controls[id] = control;
        values[id] = default_value;
    }

    int operator()(unsigned long request, void* argument) {
        switch (request) {
            case VIDIOC_QUERYCAP: {
                auto& capability = *static_cast<v4l2_capability*>(argument);
                capability.capabilities = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING;
                return 0;
            }
            case VIDIOC_QUERYCTRL: {
                auto& query = *static_cast<v4l2_queryctrl*>(argument);
                const auto id = query.id & ~V4L2_CTRL_FLAG_NEXT_CTRL;
                const auto found = query.id & V4L2_CTRL_FLAG_NEXT_CTRL ? controls.upper_bound(id) : controls.find(id);
                if (found == controls.end()) return -EINVAL;
                query = found->second;
                return 0;
            }
            case VIDIOC_G_CTRL: {
                auto& control = *static_cast<v4l2_control*>(argument);
                control.value = values.at(control.id);
                return 0;
            }
            case VIDIOC_S_CTRL: {
                const auto& control = *static_cast<v4l2_control*>(argument);
                if (refuses) return -EBUSY;
                values.at(control.id) = control.value;
                ++writes;
                return 0;
            }
            default: return -EINVAL;
        }
    }
};

class CameraAdjustmentTest : public testing::Test {
protected:
    CameraAdjustment adjustment() {
        return CameraAdjustment(CameraDevice(
            "/dev/fake", [this](unsigned long request, void* argument) { return camera(request, argument); }));
    }
    FakeCamera camera;
};

constexpr Adjustment everything{.brightness = 51, .contrast = 2.5, .saturation = 0.5, .gain = 8};

TEST_F(CameraAdjustmentTest, GivesTheCameraWhatItHasAndLeavesTheRest) {
    camera.add(V4L2_CID_BRIGHTNESS, -64, 64, 1, 0);
    camera.add(V4L2_CID_SATURATION, 0, 100, 1, 60);
    auto panel = adjustment();
    EXPECT_EQ(panel.apply(everything), (Adjustment{.contrast = 2.5, .gain = 8}));
    EXPECT_EQ(camera.values[V4L2_CID_BRIGHTNESS], 13);  // a fifth of the way up
    EXPECT_EQ(camera.values[V4L2_CID_SATURATION], 30);  // half of the way down
}

TEST_F(CameraAdjustmentTest, GivesTheCameraAll) {
    camera.add(V4L2_CID_BRIGHTNESS, 0, 255, 1, 128);
    camera.add(V4L2_CID_CONTRAST, 0, 95, 1, 32);
    camera.add(V4L2_CID_SATURATION, 0, 100, 1, 55);
    camera.add(V4L2_CID_GAIN, 16, 255, 16, 20);
    auto panel = adjustment();
    EXPECT_EQ(panel.apply(everything), Adjustment{});
    EXPECT_EQ(camera.values[V4L2_CID_CONTRAST], 64);  // half of the way up: 32 + 31.5
    EXPECT_EQ(camera.values[V4L2_CID_GAIN], 240);     // the last step: 16 + 14 * 16
    EXPECT_EQ(panel.apply({.brightness = -255, .contrast = 0, .saturation = 0, .gain = 0}), Adjustment{});
    EXPECT_EQ(camera.values[V4L2_CID_BRIGHTNESS], 0);
    EXPECT_EQ(camera.values[V4L2_CID_CONTRAST], 0);
    EXPECT_EQ(camera.values[V4L2_CID_SATURATION], 0);
    EXPECT_EQ(camera.values[V4L2_CID_GAIN], 16);
    EXPECT_EQ(panel.apply({}), Adjustment{});
    EXPECT_EQ(camera.values[V4L2_CID_BRIGHTNESS], 128);
    EXPECT_EQ(camera.values[V4L2_CID_CONTRAST], 32);
    EXPECT_EQ(camera.values[V4L2_CID_SATURATION], 55);
    EXPECT_EQ(camera.values[V4L2_CID_GAIN], 20);  // its default, though that lies between two steps
}

TEST_F(CameraAdjustmentTest, SetsOnlyWhatChanges) {
    camera.add(V4L2_CID_BRIGHTNESS, -64, 64, 1, 0);
    camera.add(V4L2_CID_CONTRAST, 0, 95, 1, 32);
    auto panel = adjustment();
    panel.apply({});
    EXPECT_EQ(camera.writes, 0);
    panel.apply({.brightness = 255});
    panel.apply({.brightness = 255});
    EXPECT_EQ(camera.writes, 1);
    panel.apply({.brightness = 255, .contrast = 3});
    EXPECT_EQ(camera.writes, 2);
}

TEST_F(CameraAdjustmentTest, LeavesControlsThatCannotServe) {
    camera.add(V4L2_CID_BRIGHTNESS, -64, 64, 1, 0, V4L2_CTRL_FLAG_READ_ONLY);
    camera.add(V4L2_CID_CONTRAST, 0, 95, 1, 32, V4L2_CTRL_FLAG_INACTIVE);  // taken over by an automatic one
    camera.add(V4L2_CID_SATURATION, 7, 7, 1, 7);                           // nowhere to go
    camera.add(V4L2_CID_GAIN, 0, 10, 1, 11);                               // a driver's mistake
    EXPECT_EQ(adjustment().apply(everything), everything);
    EXPECT_EQ(camera.writes, 0);
}

TEST_F(CameraAdjustmentTest, RefusesBeforeItSetsAnything) {
    camera.add(V4L2_CID_BRIGHTNESS, -64, 64, 1, 0);
    auto panel = adjustment();
    EXPECT_THROW(panel.apply({.brightness = 20, .gain = 9}), Error);
    EXPECT_EQ(camera.writes, 0);
    camera.refuses = true;
    try {
        panel.apply({.brightness = 20});
        FAIL() << "the camera refused";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::config);
    }
    camera.refuses = false;
    panel.apply({.brightness = 20});  // not taken for set
    EXPECT_EQ(camera.values[V4L2_CID_BRIGHTNESS], 5);
}

}  // namespace
}  // namespace framewire
