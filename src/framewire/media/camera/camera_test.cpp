// Cameras on a simulated V4L2 device.
#include "framewire/media/camera/camera.hpp"
#include "framewire/media/media_testing.hpp"

#include <linux/videodev2.h>

#include <cerrno>
#include <cstring>
#include <map>

namespace framewire {
namespace camera_test {

using namespace testing;

constexpr std::uint32_t exposure_menu = V4L2_CID_EXPOSURE_AUTO;

template <std::size_t bytes>
void put(std::uint8_t (&field)[bytes], const char* text) {
    std::strncpy(reinterpret_cast<char*>(field), text, bytes);
}

// A webcam with two formats, a brightness control and an exposure menu.
class FakeCamera {
public:
    std::map<std::uint32_t, int> values{{V4L2_CID_BRIGHTNESS, 12}, {exposure_menu, 3}};
    std::uint32_t capabilities = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING;
    bool ids_stand_still = false;
    bool formats_never_end = false;
    int calls = 0;

    int operator()(unsigned long request, void* argument) {
        ++calls;
        switch (request) {
            case VIDIOC_QUERYCAP: {
                auto& capability = *static_cast<v4l2_capability*>(argument);
                put(capability.driver, "fake");
                std::memset(capability.card, 'X', sizeof capability.card);  // not terminated
                capability.capabilities = capabilities | V4L2_CAP_DEVICE_CAPS;
                capability.device_caps = capabilities;
                return 0;
            }
            case VIDIOC_ENUM_FMT: {
                auto& format = *static_cast<v4l2_fmtdesc*>(argument);
                if (format.index > 1 && !formats_never_end) return -EINVAL;
                format.pixelformat = format.index == 0 ? V4L2_PIX_FMT_YUYV : V4L2_PIX_FMT_MJPEG;
                put(format.description, format.index == 0 ? "YUYV 4:2:2" : "Motion-JPEG");
                return 0;
            }
            case VIDIOC_ENUM_FRAMESIZES: {
                auto& size = *static_cast<v4l2_frmsizeenum*>(argument);
                if (size.pixel_format == V4L2_PIX_FMT_MJPEG) {
                    if (size.index > 0) return -EINVAL;
                    size.type = V4L2_FRMSIZE_TYPE_STEPWISE;
                    size.stepwise = {160, 1920, 16, 120, 1080, 8};
                    return 0;
                }
                if (size.index > 1) return -EINVAL;
                size.type = V4L2_FRMSIZE_TYPE_DISCRETE;
                size.discrete = size.index == 0 ? v4l2_frmsize_discrete{640, 480} : v4l2_frmsize_discrete{1280, 720};
                return 0;
            }
            case VIDIOC_ENUM_FRAMEINTERVALS: {
                auto& interval = *static_cast<v4l2_frmivalenum*>(argument);
                if (interval.index > 1) return -EINVAL;
                interval.type = V4L2_FRMIVAL_TYPE_DISCRETE;
                const bool slow = interval.pixel_format == V4L2_PIX_FMT_YUYV && interval.width > 640;
                interval.discrete =
                    interval.index == 0 ? v4l2_fract{1, slow ? 5U : 15U} : v4l2_fract{slow ? 0U : 1U, 30};
                return 0;
            }
            case VIDIOC_QUERYCTRL: return query_control(*static_cast<v4l2_queryctrl*>(argument));
            case VIDIOC_QUERYMENU: {
                auto& item = *static_cast<v4l2_querymenu*>(argument);
                if (item.id != exposure_menu || (item.index != 1 && item.index != 3)) return -EINVAL;
                // The struct is packed, so a reference to its array is not allowed.
                std::strncpy(reinterpret_cast<char*>(&item.name), item.index == 1 ? "Manual" : "Aperture Priority", 32);
                return 0;
            }
            case VIDIOC_G_CTRL: {
                auto& control = *static_cast<v4l2_control*>(argument);
                if (!values.contains(control.id)) return -EINVAL;
                control.value = values[control.id];
                return 0;
            }
            case VIDIOC_S_CTRL: {
                const auto& control = *static_cast<v4l2_control*>(argument);
                if (!values.contains(control.id)) return -EINVAL;
                values[control.id] = control.value;
                return 0;
            }
            default: return -ENOTTY;
        }
    }

private:
    int query_control(v4l2_queryctrl& query) const {
        const bool next = query.id & V4L2_CTRL_FLAG_NEXT_CTRL;
        const auto id = query.id & ~V4L2_CTRL_FLAG_NEXT_CTRL;
        query = {};
        query.type = V4L2_CTRL_TYPE_INTEGER;
        if (ids_stand_still) {
            query.id = V4L2_CID_BRIGHTNESS;
            return 0;
        }
        if (next ? id < V4L2_CID_BRIGHTNESS : id == V4L2_CID_BRIGHTNESS) {
            query.id = V4L2_CID_BRIGHTNESS;
            put(query.name, "Brightness");
            query.minimum = -64;
            query.maximum = 64;
            query.step = 1;
            return 0;
        }
        if (next ? id < V4L2_CID_CAMERA_CLASS : id == V4L2_CID_CAMERA_CLASS) {
            query.id = V4L2_CID_CAMERA_CLASS;
            query.type = V4L2_CTRL_TYPE_CTRL_CLASS;
            return 0;
        }
        if (next ? id < exposure_menu : id == exposure_menu) {
            query.id = exposure_menu;
            query.type = V4L2_CTRL_TYPE_MENU;
            put(query.name, "Exposure, Auto");
            query.minimum = 0;
            query.maximum = 3;
            query.default_value = 3;
            query.flags = V4L2_CTRL_FLAG_INACTIVE;
            return 0;
        }
        return -EINVAL;
    }
};

CameraDevice open(FakeCamera& fake) { return {"/dev/fake", std::ref(fake)}; }

TEST(Camera, DescribesFormatsSizesAndRates) {
    FakeCamera fake;
    const auto camera = open(fake).describe();
    EXPECT_EQ(camera.path, "/dev/fake");
    EXPECT_EQ(camera.driver, "fake");
    EXPECT_EQ(camera.name, std::string(32, 'X'));
    ASSERT_EQ(camera.formats.size(), 2U);
    EXPECT_EQ(camera.formats[0].pixel_format, "YUYV");
    EXPECT_EQ(camera.formats[0].description, "YUYV 4:2:2");
    ASSERT_EQ(camera.formats[0].sizes.size(), 2U);
    EXPECT_EQ(camera.formats[0].sizes[0].width_px, 640);
    ASSERT_EQ(camera.formats[0].sizes[0].rates.size(), 2U);
    EXPECT_EQ(camera.formats[0].sizes[0].rates[0].value(), 30);
    EXPECT_EQ(camera.formats[0].sizes[0].rates[1].value(), 15);
    EXPECT_EQ(camera.formats[0].sizes[1].rates.size(), 1U) << "an interval of 0 is no rate";
    EXPECT_EQ(camera.formats[1].pixel_format, "MJPG");
    const auto& range = camera.formats[1].sizes;
    ASSERT_EQ(range.size(), 4U);
    EXPECT_EQ(range[0].width_px, 320);
    EXPECT_EQ(range[3].width_px, 1920);
    EXPECT_EQ(range[3].height_px, 1080);
}

TEST(Camera, DescribesControls) {
    FakeCamera fake;
    const auto controls = open(fake).describe().controls;
    ASSERT_EQ(controls.size(), 2U);
    EXPECT_EQ(controls[0].name, "Brightness");
    EXPECT_EQ(controls[0].minimum, -64);
    EXPECT_EQ(controls[0].maximum, 64);
    EXPECT_EQ(controls[0].value, 12);
    EXPECT_TRUE(controls[0].writable);
    EXPECT_EQ(controls[1].type, CameraControl::Type::menu);
    EXPECT_EQ(controls[1].default_value, 3);
    EXPECT_FALSE(controls[1].writable);
    EXPECT_EQ(controls[1].menu,
              (std::vector<std::pair<std::int64_t, std::string>>{{1, "Manual"}, {3, "Aperture Priority"}}));
}

TEST(Camera, ReadsAndSetsControls) {
    FakeCamera fake;
    const auto camera = open(fake);
    EXPECT_EQ(camera.control(V4L2_CID_BRIGHTNESS), 12);
    camera.set_control(V4L2_CID_BRIGHTNESS, -5);
    EXPECT_EQ(camera.control(V4L2_CID_BRIGHTNESS), -5);
    std::string message;
    EXPECT_EQ(error_of([&] { camera.set_control(V4L2_CID_BRIGHTNESS, 65); }, &message), ErrorCode::config);
    EXPECT_NE(message.find("-64 to 64"), std::string::npos) << message;
    EXPECT_EQ(camera.control(V4L2_CID_BRIGHTNESS), -5);
    EXPECT_EQ(error_of([&] { camera.set_control(V4L2_CID_GAIN, 1); }), ErrorCode::config);
    EXPECT_EQ(error_of([&] { camera.control(V4L2_CID_GAIN); }), ErrorCode::config);
}

TEST(Camera, StopsEnumeratingDriversThatNeverEnd) {
    FakeCamera fake;
    fake.ids_stand_still = true;
    fake.formats_never_end = true;
    const auto camera = open(fake).describe();
    EXPECT_EQ(camera.formats.size(), 256U);
    EXPECT_EQ(camera.controls.size(), 1U);
}

TEST(Camera, RejectsOtherDevices) {
    FakeCamera output;
    output.capabilities = V4L2_CAP_VIDEO_OUTPUT;
    EXPECT_EQ(error_of([&] { open(output); }), ErrorCode::no_input);
    EXPECT_EQ(error_of([] { CameraDevice("/dev/null"); }), ErrorCode::no_input);
    EXPECT_EQ(error_of([] { CameraDevice("/dev/no-such-device"); }), ErrorCode::no_input);
}

TEST(Camera, ChoosesTheFormatWithTheRequestedRate) {
    FakeCamera fake;
    const auto camera = open(fake).describe();
    EXPECT_EQ(choose_pixel_format(camera, 640, 480, 30), "YUYV");   // uncompressed if it is as fast
    EXPECT_EQ(choose_pixel_format(camera, 1280, 720, 30), "MJPG");  // uncompressed reaches 5 frames per second only
    EXPECT_EQ(choose_pixel_format(camera, 1280, 720, 5), "YUYV");
    EXPECT_EQ(choose_pixel_format(camera, 0, 0, 30), "YUYV");
    EXPECT_EQ(choose_pixel_format(camera, 123, 45, 30), "");
}

TEST(Camera, RejectsAMissingDevice) {
#ifdef FRAMEWIRE_FFMPEG
    EXPECT_EQ(read_video("/dev/video9999").error, ErrorCode::no_input);
    EXPECT_EQ(read_video("v4l2:/dev/video9999:size=640x480:format=mjpeg").error, ErrorCode::no_input);
    EXPECT_EQ(read_video("v4l2:/dev/video9999:format=h265").error, ErrorCode::usage);
#else
    EXPECT_EQ(read_video("/dev/video9999").error, ErrorCode::config);
#endif
}

}  // namespace camera_test
}  // namespace framewire
