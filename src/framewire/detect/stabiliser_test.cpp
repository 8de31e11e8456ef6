#include "framewire/detect/stabiliser.hpp"
#include "framewire/core/error.hpp"
#include "framewire/detect/stabiliser_ref.hpp"
#include "kit/filter_check.hpp"
#include "kit/images.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <numbers>
#include <random>
#include <string>
#include <vector>

namespace framewire {
namespace {

struct Point {
    double x = 0, y = 0;
};

// A scene that can be drawn at any position: waves of all directions and lengths, with edges, each with its own phase.
class Scene {
public:
    explicit Scene(std::uint64_t salt) {
        std::mt19937_64 random(salt);
        std::uniform_real_distribution<double> any(0, 1);
        for (int number = 0; number < waves; ++number) {
            const double angle = std::numbers::pi * (number * 5 % waves + any(random)) / waves;
            const double length = 9 * std::exp(3 * (number + any(random)) / waves);
            waves_[number] = {2 * std::numbers::pi * std::cos(angle) / length,
                              2 * std::numbers::pi * std::sin(angle) / length, 2 * std::numbers::pi * any(random),
                              3 + 0.1 * length};
        }
    }

    double operator()(double x, double y) const {
        double value = 0;
        for (const auto& wave : waves_) value += wave.height * std::sin(wave.x * x + wave.y * y + wave.phase);
        // An edge over about two pixels, where the waves change sign.
        return 120 + value / 2 + 25 * std::tanh(value / 6);
    }

private:
    struct Wave {
        double x, y, phase, height;
    };
    static constexpr int waves = 12;
    Wave waves_[waves]{};
};

// How the frames of a test differ from the scene.
struct Filming {
    int noise = 0;            // largest error of a pixel
    double object_share = 0;  // of the area, covered by an object that moves otherwise
    double light_per_frame = 0;
    std::uint64_t scene = 1;
    std::uint64_t seed = kit::seed();  // of the noise
};

// Draws the scene from a camera at the given positions.
kit::GuardedImage filmed(const Shape& shape, const std::vector<Point>& camera, const Filming& filming,
                         kit::Layout layout = {}, double scale = 1) {
    const Scene scene(filming.scene), object(2);
    kit::GuardedImage frames(shape, layout);
    std::mt19937 random(static_cast<std::uint32_t>(filming.seed));
    const double side = std::sqrt(filming.object_share);
    for (int frame = 0; frame < shape.frames; ++frame) {
        const auto at = camera[static_cast<std::size_t>(frame)];
        const double left = (shape.width * (1 - side)) * (frame % 20) / 20.0, top = shape.height * (1 - side) / 2;
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x) {
                const bool covered =
                    x >= left && x < left + side * shape.width && y >= top && y < top + side * shape.height;
                // A camera that moves to the right sees the scene move to the left.
                const double value = covered ? object((x - left) / scale, (y - 3 * frame) / scale) + 30
                                             : scene((x - at.x) / scale, (y - at.y) / scale);
                for (int channel = 0; channel < shape.channels; ++channel) {
                    const int noise =
                        filming.noise == 0
                            ? 0
                            : static_cast<int>(random() % (2u * static_cast<unsigned>(filming.noise) + 1)) -
                                  filming.noise;
                    const double pixel = value + 5 * channel + filming.light_per_frame * frame + noise;
                    frames.view().row(frame, y)[x * shape.channels + channel] =
                        static_cast<std::uint8_t>(std::clamp(pixel, 0.0, 255.0));
                }
            }
    }
    return frames;
}

// Returns positions of which the first is 0, and none is further from it than `range`.
std::vector<Point> shaking(int frames, double range, std::uint64_t seed = kit::seed()) {
    std::mt19937 random(static_cast<std::uint32_t>(seed) + 3);
    std::uniform_real_distribution<double> any(-range, range);
    std::vector<Point> camera(static_cast<std::size_t>(frames));
    for (auto& at : camera) at = {any(random), any(random)};
    camera[0] = {};
    return camera;
}

// The results for a series of frames.
struct Result {
    HostImage still, moved;  // shifted frames; masks moved back, as 0 and 255
    std::vector<CameraShift> shifts;
};

// Returns masks of 0 and 255 to be moved back.
HostImage masks_for(const Shape& shape) {
    HostImage masks(shape.with_channels(1));
    kit::fill(masks.view(), kit::Fill::noise, 5);
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x) {
                auto& pixel = masks.view().row(frame, y)[x];
                pixel = pixel % 2 ? 255 : 0;
            }
    return masks;
}

// Runs the frames in batches of `batch` on either backend; the last batch can be shorter.
class Runner {
public:
    Runner(Backend backend, const Shape& shape, int batch)
        : backend_(backend),
          executor_(kit::executor(backend)),
          batch_(batch),
          stabiliser_(shape.with_frames(batch), executor_) {}

    void reset() { stabiliser_.reset(); }

    Result operator()(const kit::GuardedImage& frames) {
        const auto shape = frames.view().shape();
        Result result{HostImage(shape), HostImage(shape.with_channels(1)), {}};
        const auto masks = masks_for(shape);
        HostBitMask packed(shape), moved(shape);
        pack_mask(masks.view(), packed.view());
        std::fill_n(moved.view().data(), bit_mask_bytes(shape) / 4, 0xA5A5A5A5u);
        if (backend_ == Backend::cpu) {
            for_batches(shape.frames, [&](int first, int count) {
                stabiliser_.run(frames.view().frames(first, count), result.still.view().frames(first, count));
                stabiliser_.move_back(std::as_const(packed).view().frames(first, count),
                                      moved.view().frames(first, count));
                keep_shifts(result, count);
            });
        } else if constexpr (cuda::compiled) {
            const auto& stream = executor_.stream();
            const kit::DeviceMirror device_frames(frames);
            device_frames.upload(stream);
            cuda::DeviceImage device_still(shape);
            DeviceBitMask device_masks(shape), device_moved(shape);
            cuda::upload(packed.view().data(), device_masks.view().data(), bit_mask_bytes(shape), stream);
            for_batches(shape.frames, [&](int first, int count) {
                stabiliser_.run(device_frames.view().frames(first, count), device_still.view().frames(first, count));
                stabiliser_.move_back(std::as_const(device_masks).view().frames(first, count),
                                      device_moved.view().frames(first, count));
                keep_shifts(result, count);
            });
            cuda::download(device_still.view(), result.still.view(), stream);
            cuda::download(device_moved.view().data(), moved.view().data(), bit_mask_bytes(shape), stream);
            stream.synchronize();
        }
        const auto view = std::as_const(moved).view();
        for (std::int64_t row = 0; row < shape.rows(); ++row)
            for (int x = shape.width; x < view.row_words() * 32; ++x)
                EXPECT_EQ(view.data()[row * view.row_words() + x / 32] >> x % 32 & 1, 0u) << "a bit outside the image";
        unpack_mask(view, result.moved.view());
        return result;
    }

private:
    void for_batches(int frames, const std::function<void(int, int)>& run) const {
        for (int first = 0; first < frames; first += batch_) run(first, std::min(batch_, frames - first));
    }
    void keep_shifts(Result& result, int count) {
        const auto shifts = stabiliser_.shifts(count);
        result.shifts.insert(result.shifts.end(), shifts.begin(), shifts.end());
    }

    Backend backend_;
    Executor& executor_;
    int batch_;
    Stabiliser stabiliser_;
};

Result reference(HostView<const std::uint8_t> frames) {
    const auto shape = frames.shape();
    Result result{HostImage(shape), HostImage(shape.with_channels(1)), {}};
    result.shifts = StabiliserReference(shape.with_frames(1)).run(frames, result.still.view());
    StabiliserReference::move_back(result.shifts, masks_for(shape).view(), result.moved.view());
    return result;
}

void expect_equal(const Result& got, const Result& want) {
    EXPECT_EQ(got.shifts, want.shifts);
    EXPECT_EQ(kit::first_difference(got.still.view(), want.still.view()), std::nullopt);
    EXPECT_EQ(kit::first_difference(got.moved.view(), want.moved.view()), std::nullopt);
}

// Returns the largest distance between shifts and the camera's movements, in pixels. The reference is within
// rounding of the first frame.
double largest_error(const std::vector<CameraShift>& shifts, const std::vector<Point>& camera) {
    double largest = 0;
    for (std::size_t frame = 0; frame < shifts.size(); ++frame)
        largest = std::max({largest, std::abs(shifts[frame].x_16th / 16.0 - camera[frame].x),
                            std::abs(shifts[frame].y_16th / 16.0 - camera[frame].y)});
    return largest;
}

using StabiliserTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(StabiliserTest);

// Sizes on both sides of the smallest that is shifted, with every factor up to 3, and cells that leave a rest.
TEST_P(StabiliserTest, MatchesTheReference) {
    for (const int channels : {3, 1})
        for (const Shape& shape : {Shape{2, 1, 1, channels}, Shape{2, 63, 64, channels}, Shape{2, 64, 63, channels},
                                   Shape{5, 64, 64, channels}, Shape{4, 97, 131, channels}, Shape{3, 70, 513, channels},
                                   Shape{3, 391, 1030, channels}, Shape{3, 1153, 200, channels}})
            for (const auto& layout : kit::layouts()) {
                const auto frames = filmed(shape, shaking(shape.frames, 7), {.noise = 2, .object_share = 0.1}, layout);
                const auto want = reference(frames.view());
                kit::for_each_instruction_set(GetParam(), [&](const std::string& name) {
                    SCOPED_TRACE(name + ", " + to_string(shape) + ", " + kit::to_string(layout));
                    expect_equal(Runner(GetParam(), shape, shape.frames)(frames), want);
                    ASSERT_FALSE(testing::Test::HasFailure());
                });
            }
}

// Noise, flat images and unrelated images have no trusted fit, or an arbitrary one.
TEST_P(StabiliserTest, MatchesTheReferenceOnImagesThatDoNotFit) {
    const Shape shape{70, 80, 90, 3};
    for (const auto fill : kit::fills()) {
        kit::GuardedImage frames(shape, {});
        for (int frame = 0; frame < shape.frames; ++frame)
            kit::fill(frames.view().frames(frame, 1), fill, static_cast<std::uint64_t>(frame));
        SCOPED_TRACE(kit::to_string(fill));
        expect_equal(Runner(GetParam(), shape, 16)(frames), reference(frames.view()));
    }
}

TEST_P(StabiliserTest, BatchesMatchSingleFrames) {
    const auto frames = filmed({75, 90, 110, 1}, shaking(75, 4), {.noise = 3}, {3, 13, 2});
    const auto whole = Runner(GetParam(), frames.view().shape(), 75)(frames);
    for (const int batch : {1, 16, 74}) {
        SCOPED_TRACE(batch);
        Runner run(GetParam(), frames.view().shape(), batch);
        expect_equal(run(frames), whole);
        run.reset();
        expect_equal(run(frames), whole);
    }
}

// Accuracy depends on the scene, the noise and the movements, so the tests of accuracy have fixed ones. Of 60 random
// ones, five were off by up to .24 pixels in noise (.41 with an object), and one scene was taken for another one.
constexpr std::uint64_t accuracy_seed = 1;

TEST_P(StabiliserTest, FindsKnownShifts) {
    const int count = kit::brief() ? 8 : 30;
    for (const auto& [name, filming] : std::initializer_list<std::pair<const char*, Filming>>{
             {"clean", {.seed = accuracy_seed}},
             {"noise", {.noise = 8, .seed = accuracy_seed}},
             {"an object", {.noise = 4, .object_share = 0.2, .seed = accuracy_seed}},
             {"light", {.noise = 4, .light_per_frame = -0.8, .seed = accuracy_seed}}}) {
        const auto camera = shaking(count, 12, accuracy_seed);
        const auto frames = filmed({count, 240, 320, 1}, camera, filming);
        // Some of the pixels of an object fit by chance.
        const double most = filming.object_share > 0 ? 0.375 : 0.125;
        EXPECT_LE(largest_error(Runner(GetParam(), frames.view().shape(), 8)(frames).shifts, camera), most) << name;
    }
}

// At 1920x1080 a small pixel is 4 pixels wide.
TEST_P(StabiliserTest, FindsKnownShiftsOfLargeFrames) {
    const int count = kit::brief() ? 2 : 5;
    const auto camera = shaking(count, 20, accuracy_seed);
    const auto frames =
        filmed({count, 1080, 1920, 1}, camera, {.noise = 4, .object_share = 0.2, .seed = accuracy_seed}, {}, 3);
    EXPECT_LE(largest_error(Runner(GetParam(), frames.view().shape(), count)(frames).shifts, camera), 0.125);
}

// The shifts of a still camera stay within 1/8 pixel of 0.
TEST_P(StabiliserTest, LeavesAStillCameraAlone) {
    const std::vector<Point> camera(40);
    const auto frames = filmed({40, 120, 160, 3}, camera, {.noise = 5, .object_share = 0.1, .seed = accuracy_seed});
    EXPECT_LE(largest_error(Runner(GetParam(), frames.view().shape(), 8)(frames).shifts, camera), 0.125);
}

// A camera that is turned away keeps the last shift for most_lost_frames frames; then the new scene becomes the
// reference.
TEST_P(StabiliserTest, StartsAgainWithAnotherScene) {
    constexpr int before = 4, after = most_lost_frames + 6;
    std::vector<Point> camera(before, {3, 2}), later(after);
    camera[0] = {};
    later.back() = {2, 0};
    const Shape shape{before + after, 120, 160, 1};
    kit::GuardedImage frames(shape, {});
    const auto add = [&](int first, const kit::GuardedImage& part) {
        const auto to = frames.view().frames(first, part.view().shape().frames);
        for (std::int64_t row = 0; row < to.shape().rows(); ++row)
            std::copy_n(part.view().row(0, static_cast<int>(row)), shape.row_bytes(), to.row(0, static_cast<int>(row)));
    };
    add(0, filmed(shape.with_frames(before), camera, {.noise = 2, .seed = accuracy_seed}));
    add(before, filmed(shape.with_frames(after), later, {.noise = 2, .scene = 3, .seed = accuracy_seed}));
    const auto shifts = Runner(GetParam(), frames.view().shape(), 8)(frames).shifts;
    const CameraShift last{48, 32};
    for (int frame = 1; frame < before + most_lost_frames - 1; ++frame) {
        const auto& shift = shifts[static_cast<std::size_t>(frame)];
        ASSERT_LE(std::max(std::abs(shift.x_16th - last.x_16th), std::abs(shift.y_16th - last.y_16th)), 2) << frame;
    }
    EXPECT_EQ(shifts[before + most_lost_frames - 1], CameraShift{});
    EXPECT_NEAR(shifts.back().x_16th, 32, 2);
}

TEST(Stabiliser, RejectsInvalidArguments) {
    auto& executor = kit::executor(Backend::cpu);
    const Shape shape{2, 80, 90, 3};
    EXPECT_THROW(Stabiliser({1, 0, 90, 3}, executor), Error);
    EXPECT_THROW(Stabiliser(shape.with_channels(2), executor), Error);
    Stabiliser stabiliser(shape, executor);
    HostImage frames(shape), gray(shape.with_channels(1)), three(shape.with_frames(3));
    HostBitMask masks(shape), other(Shape{2, 80, 91, 1});
    EXPECT_THROW(stabiliser.run(gray.view(), frames.view()), Error);
    EXPECT_THROW(stabiliser.run(frames.view(), gray.view()), Error);
    EXPECT_THROW(stabiliser.run(three.view(), three.view()), Error);
    EXPECT_THROW(stabiliser.move_back(masks.view(), other.view()), Error);
    EXPECT_THROW(stabiliser.move_back(other.view(), masks.view()), Error);
    EXPECT_THROW(stabiliser.shifts(3), Error);
}

}  // namespace
}  // namespace framewire
