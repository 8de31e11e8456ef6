#include "framewire/detect/mixture.hpp"
#include "framewire/core/error.hpp"
#include "framewire/detect/mixture_ref.hpp"
#include "kit/filter_check.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>

namespace framewire {
namespace {

// Fills frames in which each pixel shows one of its three colours, rarely another one, sometimes at 70 % brightness,
// always with noise: modes appear, gain weight, change places and disappear.
void fill_flicker(HostView<std::uint8_t> frames, std::uint64_t salt) {
    std::mt19937_64 random(kit::seed() * 0x9E3779B97F4A7C15u + salt);
    const auto& shape = frames.shape();
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x) {
                const auto dice = static_cast<unsigned>(random() >> 40);
                const auto colour =
                    (x * 37 + y * 101) % 160 + static_cast<int>(dice % 16 < 12 ? 0 : dice % 16 - 12) * 24;
                for (int c = 0; c < shape.channels; ++c) {
                    const auto noise = static_cast<int>(random() >> 61) - 4;
                    const auto lit = dice / 16 % 8 == 0 ? colour * 7 / 10 : colour;
                    frames.row(frame, y)[x * shape.channels + c] = static_cast<std::uint8_t>(
                        dice / 128 % 64 == 0 ? random() >> 56 : std::clamp(lit + noise + c * 9, 0, 255));
                }
            }
}

struct Results {
    HostImage foreground, shadows, background;
    explicit Results(const Shape& shape)
        : foreground(shape.with_channels(1)), shadows(shape.with_channels(1)), background(shape.with_frames(1)) {}
};

Results reference(const MixtureParameters& parameters, HostView<const std::uint8_t> frames) {
    Results results(frames.shape());
    MixtureReference mixture(mixture_terms(parameters), frames.shape());
    mixture.run(frames, results.foreground.view(), results.shadows.view());
    mixture.draw_background(results.background.view());
    return results;
}

// Runs the frames in batches of `batch` on either backend; the last batch can be shorter.
class Runner {
public:
    Runner(Backend backend, const MixtureParameters& parameters, const Shape& shape)
        : backend_(backend), executor_(kit::executor(backend)), mixture_(parameters, shape, executor_) {}

    void reset() { mixture_.reset(); }

    Results operator()(const kit::GuardedImage& frames, int batch, bool with_shadows = true) {
        const auto shape = frames.view().shape();
        Results results(shape);
        HostBitMask foreground(shape), shadows(shape);
        std::fill_n(foreground.view().data(), bit_mask_bytes(shape) / 4, 0xA5A5A5A5u);
        std::fill_n(shadows.view().data(), bit_mask_bytes(shape) / 4, with_shadows ? 0xA5A5A5A5u : 0u);
        if (backend_ == Backend::cpu) {
            for (int first = 0; first < shape.frames; first += batch) {
                const int count = std::min(batch, shape.frames - first);
                mixture_.run(frames.view().frames(first, count), foreground.view().frames(first, count),
                             with_shadows ? shadows.view().frames(first, count) : HostBitMaskView<std::uint32_t>());
            }
            mixture_.draw_background(results.background.view());
        } else if constexpr (cuda::compiled) {
            run_on_device(frames, batch, with_shadows, foreground, shadows, results);
        }
        require_clear_edges(foreground);
        require_clear_edges(shadows);
        unpack_mask(foreground.view(), results.foreground.view());
        unpack_mask(shadows.view(), results.shadows.view());
        return results;
    }

private:
    void run_on_device(const kit::GuardedImage& frames, int batch, bool with_shadows, HostBitMask& foreground,
                       HostBitMask& shadows, Results& results) {
        const auto shape = frames.view().shape();
        const auto& stream = executor_.stream();
        const kit::DeviceMirror device_frames(frames);
        device_frames.upload(stream);
        DeviceBitMask device_foreground(shape), device_shadows(shape);
        cuda::upload(foreground.view().data(), device_foreground.view().data(), bit_mask_bytes(shape), stream);
        cuda::upload(shadows.view().data(), device_shadows.view().data(), bit_mask_bytes(shape), stream);
        cuda::DeviceImage background(shape.with_frames(1));
        for (int first = 0; first < shape.frames; first += batch) {
            const int count = std::min(batch, shape.frames - first);
            mixture_.run(
                device_frames.view().frames(first, count), device_foreground.view().frames(first, count),
                with_shadows ? device_shadows.view().frames(first, count) : DeviceBitMaskView<std::uint32_t>());
        }
        mixture_.draw_background(background.view());
        cuda::download(device_foreground.view().data(), foreground.view().data(), bit_mask_bytes(shape), stream);
        cuda::download(device_shadows.view().data(), shadows.view().data(), bit_mask_bytes(shape), stream);
        cuda::download(background.view(), results.background.view(), stream);
        stream.synchronize();
    }

    static void require_clear_edges(const HostBitMask& mask) {
        const auto view = mask.view();
        for (int frame = 0; frame < view.shape().frames; ++frame)
            for (int y = 0; y < view.shape().height; ++y)
                for (int x = view.shape().width; x < view.row_words() * 32; ++x)
                    ASSERT_EQ(view.row(frame, y)[x / 32] >> x % 32 & 1, 0u) << "a bit outside the image";
    }

    Backend backend_;
    Executor& executor_;
    MixtureBackground mixture_;
};

void expect_equal(const Results& got, const Results& want) {
    EXPECT_EQ(kit::first_difference(got.foreground.view(), want.foreground.view()), std::nullopt) << "foreground";
    EXPECT_EQ(kit::first_difference(got.shadows.view(), want.shadows.view()), std::nullopt) << "shadows";
    EXPECT_EQ(kit::first_difference(got.background.view(), want.background.view()), std::nullopt) << "background";
}

kit::GuardedImage flicker(const Shape& shape, kit::Layout layout = {}) {
    kit::GuardedImage frames(shape, layout);
    fill_flicker(frames.view(), static_cast<std::uint64_t>(shape.width));
    return frames;
}

// Returns `usual`, or a quarter of it under tools that slow the test down.
int frame_count(int usual) { return kit::brief() ? usual / 4 : usual; }

using MixtureTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(MixtureTest);

TEST_P(MixtureTest, MatchesTheReference) {
    for (const int channels : {3, 1})
        for (const auto& shape : kit::small_shapes(channels, frame_count(24)))
            for (const auto& layout : kit::layouts()) {
                const auto frames = flicker(shape, layout);
                const auto want = reference(opencv_mixture, frames.view());
                kit::for_each_instruction_set(GetParam(), [&](const std::string& name) {
                    SCOPED_TRACE(name + ", " + to_string(shape) + ", " + kit::to_string(layout));
                    expect_equal(Runner(GetParam(), opencv_mixture, shape)(frames, shape.frames), want);
                    ASSERT_FALSE(testing::Test::HasFailure());
                });
            }
}

TEST_P(MixtureTest, MatchesTheReferenceOverManyFrames) {
    const Shape shape{frame_count(1200), 9, 61, 3};
    const auto frames = flicker(shape);
    const auto want = reference(opencv_mixture, frames.view());
    kit::for_each_instruction_set(GetParam(), [&](const std::string& name) {
        SCOPED_TRACE(name);
        expect_equal(Runner(GetParam(), opencv_mixture, shape)(frames, 32), want);
    });
}

TEST_P(MixtureTest, MatchesTheReferenceWithOtherParameters) {
    const MixtureParameters others[] = {
        {.history = 20},
        {.history = 1},
        {.var_threshold = 4, .var_threshold_gen = 25},
        {.mixtures = 1},
        {.mixtures = 3, .complexity_reduction = 0},
        {.var_init = 200, .var_min = 0.5, .var_max = 255},
        {.complexity_reduction = 1},
        {.background_ratio = 0.3f},
        {.shadows = true},
        {.shadow_threshold = 0.9f},
        {.learning_rate = 0},
        {.learning_rate = 1},
        {.learning_rate = 1e-5f},
        {.learn_every = 1},
        {.var_threshold = 1e4f, .learn_every = 2},
        {.background_ratio = 0, .learn_every = 3},
        {.history = 2, .learn_every = 5},
    };
    for (const int channels : {3, 1}) {
        const auto frames = flicker({frame_count(80), 7, 129, channels});
        int set = 0;
        for (auto parameters : others) {
            ++set;
            parameters.shadows = !parameters.shadows;
            const auto want = reference(parameters, frames.view());
            kit::for_each_instruction_set(GetParam(), [&](const std::string& name) {
                SCOPED_TRACE(name + ", parameter set " + std::to_string(set));
                expect_equal(Runner(GetParam(), parameters, frames.view().shape())(frames, 32), want);
            });
        }
    }
}

// Shows a still picture with little noise in which a few pixels change at times: blocks get a single Gaussian of
// weight 1 per pixel, lose that state and return to it.
TEST_P(MixtureTest, MatchesTheReferenceInAStaticScene) {
    const MixtureParameters others[] = {
        {},
        {.history = 500, .var_threshold = 4},
        {.history = 30, .var_init = 100, .var_min = 100, .var_max = 100},
        {.background_ratio = 0},
        {.learning_rate = 1e-6f},
        {.learning_rate = 0.9f},
    };
    const Shape shape{frame_count(160), 6, 150, 3};
    kit::GuardedImage frames(shape, {});
    std::mt19937 random(static_cast<std::uint32_t>(kit::seed()));
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x) {
                const bool passes = random() % 1024 == 0;
                for (int c = 0; c < 3; ++c)
                    frames.view().row(frame, y)[3 * x + c] =
                        static_cast<std::uint8_t>(passes ? random() % 256 : 90 + x % 50 + 7 * c + random() % 3);
            }
    for (const auto& parameters : others) {
        const auto want = reference(parameters, frames.view());
        kit::for_each_instruction_set(GetParam(), [&](const std::string& name) {
            SCOPED_TRACE(name + ", parameter set " + std::to_string(&parameters - others + 1));
            expect_equal(Runner(GetParam(), parameters, shape)(frames, 7), want);
        });
    }
}

TEST_P(MixtureTest, BatchesMatchSingleFrames) {
    const auto frames = flicker({37, 33, 97, 3}, {3, 13, 2});
    Runner run(GetParam(), opencv_mixture, frames.view().shape());
    const auto whole = run(frames, 37);
    for (const int batch : {1, 5, 36}) {
        SCOPED_TRACE(batch);
        run.reset();
        expect_equal(run(frames, batch), whole);
    }
}

TEST_P(MixtureTest, ShadowMaskIsOptional) {
    const auto frames = flicker({20, 16, 65, 3});
    auto want = reference(opencv_mixture, frames.view());
    kit::fill(want.shadows.view(), kit::Fill::zeros);
    expect_equal(Runner(GetParam(), opencv_mixture, frames.view().shape())(frames, 20, false), want);
}

// Shows pixels that become brighter by 2 levels, for 2000 frames at a learning rate so low that no step reaches a
// stored unit.
TEST_P(MixtureTest, AccumulatesChangesBelowTheStoredPrecision) {
    const Shape shape{2000, 1, 32, 1};
    kit::GuardedImage frames(shape, {});
    for (int frame = 0; frame < shape.frames; ++frame)
        std::fill_n(frames.view().row(frame, 0), shape.width, static_cast<std::uint8_t>(frame < 1 ? 100 : 102));
    // 100 + 2 (1 - (1 - 1 / 2000)^2000) is 101.26; each step adds at most a quarter of a unit.
    const auto results = Runner(GetParam(), {.learning_rate = 1 / 2000.0f}, shape)(frames, 100);
    EXPECT_EQ(results.background.view().data()[0], 101);
}

// A slow change of light must stay background; a passing object must not, and its shadow must be neither.
TEST_P(MixtureTest, SeparatesMotionFromLightAndShadow) {
    const Shape shape{400, 40, 100, 3};
    kit::GuardedImage frames(shape, {});
    std::mt19937 random(7);
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x) {
                const bool passes = frame >= 390 && x / 10 == 3 && y < 20,
                           shade = frame >= 390 && x / 10 == 3 && y >= 20;
                for (int c = 0; c < 3; ++c) {
                    const int light = 80 + 20 * c + frame / 20 + static_cast<int>(random() % 5);
                    frames.view().row(frame, y)[3 * x + c] = static_cast<std::uint8_t>(passes  ? 220 - 90 * c
                                                                                       : shade ? light * 7 / 10
                                                                                               : light);
                }
            }
    const auto results = Runner(GetParam(), opencv_mixture, shape)(frames, 50);
    for (int frame = 20; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x) {
                const bool in_column = frame >= 390 && x / 10 == 3;
                ASSERT_EQ(results.foreground.view().row(frame, y)[x], in_column && y < 20 ? 255 : 0)
                    << frame << ' ' << x;
                ASSERT_EQ(results.shadows.view().row(frame, y)[x], in_column && y >= 20 ? 255 : 0) << frame << ' ' << x;
            }
}

TEST(Mixture, RejectsInvalidArguments) {
    auto& executor = kit::executor(Backend::cpu);
    const Shape shape{1, 4, 40, 3};
    for (const auto& parameters :
         {MixtureParameters{.history = 0}, MixtureParameters{.var_threshold = -1}, MixtureParameters{.mixtures = 6},
          MixtureParameters{.var_max = 256}, MixtureParameters{.var_min = 80}, MixtureParameters{.learning_rate = 2},
          MixtureParameters{.shadow_threshold = std::nanf("")}, MixtureParameters{.learn_every = 0},
          MixtureParameters{.learn_every = most_learn_every + 1}})
        EXPECT_THROW(MixtureBackground(parameters, shape, executor), Error);
    EXPECT_THROW(MixtureBackground({}, {1, 4, 40, 2}, executor), Error);
    MixtureBackground mixture({}, shape, executor);
    HostImage frame(shape), gray(shape.with_channels(1)), two(shape.with_frames(2));
    HostBitMask mask(shape), other(Shape{1, 4, 41, 1});
    EXPECT_THROW(mixture.run(gray.view(), mask.view()), Error);
    EXPECT_THROW(mixture.run(frame.view(), other.view()), Error);
    EXPECT_THROW(mixture.run(frame.view(), mask.view(), other.view()), Error);
    EXPECT_THROW(mixture.run(two.view(), mask.view()), Error);
    EXPECT_THROW(mixture.run(frame.view(), {}), Error);
    EXPECT_THROW(mixture.draw_background(gray.view()), Error);
}

}  // namespace
}  // namespace framewire
