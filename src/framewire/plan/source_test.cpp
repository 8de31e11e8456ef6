#include "framewire/plan/source.hpp"
#include "framewire/plan/chain_plan.hpp"
#include "framewire/plan/frame_detector.hpp"
#include "framewire/plan/frame_ring.hpp"
#include "framewire/plan/stream_encoder.hpp"
#include "kit/filter_check.hpp"
#include "kit/images.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace framewire {
namespace {

class SourceTest : public kit::BackendTest {
protected:
    Executor& executor() { return kit::executor(GetParam()); }
};
FRAMEWIRE_ON_EVERY_BACKEND(SourceTest);

constexpr Shape shape{1, 90, 161, 3};
constexpr int frames = 17;

// Source of uniform gray frames with noise in a rectangle that moves.
class MovingNoise : public Source {
public:
    const SourceInfo& info() const override { return info_; }
    bool read(HostView<std::uint8_t> image, FrameTime& time) override {
        if (number_ == frames) return false;
        for (int y = 0; y < shape.height; ++y)
            std::memset(image.row(0, y), 128, static_cast<std::size_t>(shape.row_bytes()));
        HostImage noise({1, 20, 30, 3});
        kit::fill(noise.view(), kit::Fill::noise, static_cast<std::uint64_t>(number_));
        if (number_ > 0)
            for (int y = 0; y < 20; ++y) std::copy_n(noise.view().row(0, y), 90, image.row(0, y + 5) + 9 * number_);
        time.index = number_++;
        return true;
    }

private:
    SourceInfo info_{.name = "noise", .shape = shape, .frames = frames};
    int number_ = 0;
};

// Source of the same frames, written on the GPU if a frame has an image there; its host image then has other contents.
class NoiseOnGpu final : public MovingNoise {
public:
    bool capture(Frame& frame, FrameTime& time) override {
        if (!frame.has_gpu()) return Source::capture(frame, time);
        if (!read(picture_.view(), time)) return false;
        kit::fill(frame.host(), kit::Fill::ramp);
        frame.fill_on_gpu([&](DeviceView<std::uint8_t> image, const cuda::Stream& stream) {
            cuda::upload(std::as_const(picture_).view(), image, stream);
        });
        return true;
    }

private:
    HostImage picture_{shape};
};

struct Seen {
    std::vector<std::uint8_t> captured, filtered, encoded;
    std::vector<Component> objects;
};

std::vector<std::uint8_t> bytes_of(HostView<const std::uint8_t> image) {
    return {image.data(), image.data() + image.shape().bytes()};
}

struct Slot {
    Frame captured, filtered;
    FrameObjects objects;
};

// Returns the results of stages on the frames of a source, with several frames in flight.
std::vector<Seen> stages_of(Source& source, Executor& executor) {
    ChainPlan plan(parse_chain("median=3,noise=10"), shape, executor);
    FrameDetector detector({.blur_px = 1, .threshold = 60, .morphology = MorphologyOperation::none, .min_area = 1},
                           shape, executor);
    StreamEncoder encoder({}, shape, executor);
    FrameRingOptions options;
    options.let_wait(3);
    std::vector<Slot> slots;
    for (int slot = 0; slot < options.slots; ++slot)
        slots.push_back({Frame(shape, executor), Frame(plan.output_shape(), executor), detector.make_objects()});
    const auto at = [&](int slot) -> Slot& { return slots[static_cast<std::size_t>(slot)]; };
    std::vector<Seen> all;
    Statistics statistics;
    run_frame_ring({.capture = [&](int slot, FrameTime& time) { return source.capture(at(slot).captured, time); },
                    .process =
                        [&](int slot, const FrameTime&) {
                            auto& [captured, filtered, objects] = at(slot);
                            captured.upload();
                            plan.run(captured, filtered);
                            filtered.download();
                            detector.start(captured, objects);
                            if (captured.filled_on_gpu()) captured.download();
                        },
                    .wait =
                        [&](int slot) {
                            auto& [captured, filtered, objects] = at(slot);
                            captured.wait();
                            filtered.wait();
                            objects.wait();
                        },
                    .send =
                        [&](int slot, const FrameTime&) {
                            auto& [captured, filtered, objects] = at(slot);
                            const auto found = objects.objects();
                            const auto packed = encoder.encode(captured, codec::PackAs::delta_frame).packed;
                            all.push_back({bytes_of(captured.host()),
                                           bytes_of(filtered.host()),
                                           {packed.begin(), packed.end()},
                                           {found.begin(), found.end()}});
                        }},
                   options, statistics);
    return all;
}

TEST_P(SourceTest, FramesOnTheGpuGiveTheSameResults) {
    MovingNoise on_host;
    NoiseOnGpu on_gpu;
    const auto want = stages_of(on_host, kit::executor(Backend::cpu));
    const auto got = stages_of(on_gpu, executor());
    ASSERT_EQ(got.size(), static_cast<std::size_t>(frames));
    ASSERT_EQ(want.size(), got.size());
    for (std::size_t number = 0; number < got.size(); ++number) {
        SCOPED_TRACE(number);
        EXPECT_EQ(got[number].captured, want[number].captured);
        EXPECT_EQ(got[number].filtered, want[number].filtered);
        EXPECT_EQ(got[number].objects, want[number].objects);
        EXPECT_EQ(got[number].encoded, want[number].encoded);
        EXPECT_EQ(got[number].objects.empty(), number == 0);
    }
}

TEST_P(SourceTest, FrameHoldsTheLastImageWritten) {
    NoiseOnGpu on_gpu;
    MovingNoise on_host;
    Frame frame(shape, executor());
    FrameTime time;
    for (int number = 0; number < 6; ++number) {
        SCOPED_TRACE(number);
        HostImage picture(shape);
        if (number % 3 == 2) {
            kit::fill(picture.view(), kit::Fill::noise, 99);
            copy(std::as_const(picture).view(), frame.fill_on_host());
            EXPECT_FALSE(frame.filled_on_gpu());
        } else {
            ASSERT_TRUE(on_gpu.capture(frame, time));
            ASSERT_TRUE(on_host.read(picture.view(), time));
            EXPECT_EQ(frame.filled_on_gpu(), GetParam() == Backend::cuda);
        }
        frame.upload();
        frame.download();
        frame.wait();
        EXPECT_EQ(kit::first_difference(std::as_const(frame).host(), std::as_const(picture).view()), std::nullopt);
    }
}

}  // namespace
}  // namespace framewire
