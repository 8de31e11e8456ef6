#include "framewire/media/camera.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/media/media.hpp"
#include "framewire/media/media_testing.hpp"
#include "framewire/media/sources.hpp"
#include "framewire/plan/chain.hpp"
#include "kit/host_chain.hpp"
#include "kit/images.hpp"

#include <gtest/gtest.h>
#include <linux/videodev2.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>

namespace framewire {
namespace camera_adjustment_test {

// Simulated camera with the given controls and nothing else; counts how often a control is set.
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

class CameraAdjustmentTest : public ::testing::Test {
protected:
    CameraAdjustment adjustment() {
        return CameraAdjustment(CameraDevice(
            "/dev/fake", [this](unsigned long request, void* argument) { return camera(request, argument); }));
    }
    FakeCamera camera;
};

constexpr Adjustment everything{.brightness = 51, .contrast = 2.5, .saturation = 0.5, .gain = 8};

TEST_F(CameraAdjustmentTest, SetsSupportedControlsAndReturnsTheRest) {
    camera.add(V4L2_CID_BRIGHTNESS, -64, 64, 1, 0);
    camera.add(V4L2_CID_SATURATION, 0, 100, 1, 60);
    auto panel = adjustment();
    EXPECT_EQ(panel.apply(everything), (Adjustment{.contrast = 2.5, .gain = 8}));
    EXPECT_EQ(camera.values[V4L2_CID_BRIGHTNESS], 13);  // a fifth of the way up
    EXPECT_EQ(camera.values[V4L2_CID_SATURATION], 30);  // half of the way down
}

TEST_F(CameraAdjustmentTest, SetsAllControlsOfACamera) {
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
    EXPECT_EQ(camera.values[V4L2_CID_GAIN], 20);  // the default, although it lies between two steps
}

TEST_F(CameraAdjustmentTest, WritesOnlyChangedValues) {
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

TEST_F(CameraAdjustmentTest, IgnoresUnusableControls) {
    camera.add(V4L2_CID_BRIGHTNESS, -64, 64, 1, 0, V4L2_CTRL_FLAG_READ_ONLY);
    camera.add(V4L2_CID_CONTRAST, 0, 95, 1, 32, V4L2_CTRL_FLAG_INACTIVE);  // overridden by an automatic control
    camera.add(V4L2_CID_SATURATION, 7, 7, 1, 7);                           // empty range
    camera.add(V4L2_CID_GAIN, 0, 10, 1, 11);                               // invalid default from the driver
    EXPECT_EQ(adjustment().apply(everything), everything);
    EXPECT_EQ(camera.writes, 0);
}

TEST_F(CameraAdjustmentTest, ValidatesBeforeWriting) {
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
    panel.apply({.brightness = 20});  // the failed write is not remembered
    EXPECT_EQ(camera.values[V4L2_CID_BRIGHTNESS], 5);
}

// Fixture that compares the frames of a pipeline with camera controls with those of the chain `want` on the same input.
class CameraControlsTest : public CameraAdjustmentTest {
protected:
    std::unique_ptr<Source> camera_source() {
        return with_camera_controls(room(), CameraDevice("/dev/fake", [this](unsigned long request, void* argument) {
                                        return camera(request, argument);
                                    }));
    }
    static std::unique_ptr<Source> room() { return open_source("synth:size=64x48:noise=0:seed=1"); }

    static HostImage next_frame(Source& source, kit::HostChain& processor) {
        FrameTime time;
        HostImage captured(source.info().shape), processed(processor.output_shape());
        EXPECT_TRUE(source.read(captured.view(), time));
        processor.process(captured.view(), processed.view());
        return processed;
    }

    static HostImage frame_of(const char* chain, int index) {
        const auto source = room();
        kit::HostChain processor(parse_chain(chain), source->info().shape, kit::executor(Backend::cpu));
        for (int before = 0; before < index; ++before) next_frame(*source, processor);
        return next_frame(*source, processor);
    }

    // Running pipeline with a panel.
    struct Pipeline {
        Chain chain;
        std::unique_ptr<Source> source;
        kit::HostChain processor;
        CameraControls panel;

        Pipeline(const char* text, std::unique_ptr<Source> from)
            : chain(parse_chain(text)),
              source(std::move(from)),
              processor(chain, source->info().shape, kit::executor(Backend::cpu)),
              panel(chain, *source,
                    [this](const auto& settings) { return processor.plan().set_adjustment(settings); }) {}

        HostImage next() { return next_frame(*source, processor); }
    };

    static void expect_equal(const HostImage& got, const HostImage& want) {
        EXPECT_EQ(kit::first_difference(got.view(), want.view()), std::nullopt);
    }
};

TEST_F(CameraControlsTest, SplitsSettingsBetweenCameraAndChain) {
    camera.add(V4L2_CID_BRIGHTNESS, -64, 64, 1, 0);
    Pipeline pipeline("gray,adjust=51:contrast=2.5,adjust=gain=0.5", camera_source());
    EXPECT_EQ(camera.values[V4L2_CID_BRIGHTNESS], 13);
    expect_equal(pipeline.next(), frame_of("gray,adjust=contrast=2.5,adjust=gain=0.5", 0));
    EXPECT_EQ(pipeline.panel.set({.brightness = -255, .saturation = 0}),
              Adjustment{});  // changed while the pipeline runs
    EXPECT_EQ(camera.values[V4L2_CID_BRIGHTNESS], -64);
    expect_equal(pipeline.next(), frame_of("gray,adjust=saturation=0,adjust=gain=0.5", 1));
}

TEST_F(CameraControlsTest, FallsBackToTheChainForOtherSources) {
    Pipeline pipeline("adjust=51:contrast=2.5", room());
    expect_equal(pipeline.next(), frame_of("adjust=51:contrast=2.5", 0));
    EXPECT_EQ(pipeline.panel.set(everything), Adjustment{});
    expect_equal(pipeline.next(), frame_of("adjust=51:contrast=2.5:saturation=0.5:gain=8", 1));
}

TEST_F(CameraControlsTest, ReportsSettingsThatCannotBeApplied) {
    camera.add(V4L2_CID_BRIGHTNESS, -64, 64, 1, 5);
    Pipeline pipeline("gray", camera_source());
    EXPECT_EQ(camera.writes, 0);  // the camera is not used if the chain has no `adjust`
    EXPECT_EQ(pipeline.panel.set(everything), (Adjustment{.contrast = 2.5, .saturation = 0.5, .gain = 8}));
    EXPECT_EQ(camera.writes, 1);
    EXPECT_THROW(pipeline.panel.set({.brightness = 0, .gain = 9}), Error);
    EXPECT_EQ(camera.writes, 1);
    EXPECT_THROW(Pipeline("gray", room()).panel.set({.gain = 9}), Error);
}

TEST_F(CameraControlsTest, WorksWithALoopingCamera) {
    camera.add(V4L2_CID_GAIN, 0, 80, 1, 0);
    struct LiveSource final : Source {
        std::unique_ptr<Source> source;
        SourceInfo of_camera;
        explicit LiveSource(std::unique_ptr<Source> from) : source(std::move(from)), of_camera(source->info()) {
            of_camera.live = true;
        }
        const SourceInfo& info() const override { return of_camera; }
        bool read(HostView<std::uint8_t> image, FrameTime& time) override { return source->read(image, time); }
        Adjustment set_adjustment(const Adjustment& wanted) override { return source->set_adjustment(wanted); }
    };
    const auto source =
        make_looping_source([this] { return std::make_unique<LiveSource>(camera_source()); }, std::stop_token{});
    EXPECT_EQ(source->set_adjustment({.brightness = 3, .gain = 8}), (Adjustment{.brightness = 3}));
    EXPECT_EQ(camera.values[V4L2_CID_GAIN], 80);
}

}  // namespace camera_adjustment_test
}  // namespace framewire

// Cameras on a simulated V4L2 device.

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

TEST(Camera, ListsFormatsSizesAndRates) {
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

TEST(Camera, ListsControls) {
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

TEST(Camera, SurvivesDriversWithEndlessEnumerations) {
    FakeCamera fake;
    fake.ids_stand_still = true;
    fake.formats_never_end = true;
    const auto camera = open(fake).describe();
    EXPECT_EQ(camera.formats.size(), 256U);
    EXPECT_EQ(camera.controls.size(), 1U);
}

TEST(Camera, RejectsDevicesThatAreNotCameras) {
    FakeCamera output;
    output.capabilities = V4L2_CAP_VIDEO_OUTPUT;
    EXPECT_EQ(error_of([&] { open(output); }), ErrorCode::no_input);
    EXPECT_EQ(error_of([] { CameraDevice("/dev/null"); }), ErrorCode::no_input);
    EXPECT_EQ(error_of([] { CameraDevice("/dev/no-such-device"); }), ErrorCode::no_input);
}

TEST(Camera, ChoosesAFormatThatReachesTheRequestedRate) {
    FakeCamera fake;
    const auto camera = open(fake).describe();
    EXPECT_EQ(choose_pixel_format(camera, 640, 480, 30), "YUYV");   // uncompressed if its rate is no lower
    EXPECT_EQ(choose_pixel_format(camera, 1280, 720, 30), "MJPG");  // uncompressed reaches only 5 frames per second
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
