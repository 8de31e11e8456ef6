#include "framewire/detect/background.hpp"
#include "framewire/core/error.hpp"
#include "framewire/cuda/device.hpp"
#include "framewire/detect/detector_ref.hpp"
#include "kit/filter_check.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace framewire {
namespace {

std::string message(std::string_view text) {
    try {
        parse_background(text);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::usage);
        return error.what();
    }
    return "";
}

TEST(Background, ParsesEveryModel) {
    EXPECT_EQ(parse_background("first"), BackgroundModel(FirstFrame{}));
    EXPECT_EQ(parse_background("mean:0.02"), BackgroundModel(RunningMean{0.02}));
    EXPECT_EQ(parse_background("mean:1"), BackgroundModel(RunningMean{1}));
    EXPECT_EQ(parse_background("empty room.png"), BackgroundModel(BackgroundImage{"empty room.png"}));
    EXPECT_EQ(parse_background("./first"), BackgroundModel(BackgroundImage{"./first"}));
    EXPECT_EQ(parse_background("mixture"), BackgroundModel(MixtureParameters{}));
    EXPECT_EQ(parse_background("adaptive:threshold=25:texture=4:shadows=0"),
              BackgroundModel(AdaptiveParameters{.threshold = 25, .texture = 4, .shadows = false}));
    EXPECT_EQ(parse_background("mixture:history=300:var_threshold=20.5:shadows=1:learning_rate=-1"),
              BackgroundModel(MixtureParameters{.history = 300, .var_threshold = 20.5f, .shadows = true}));
}

TEST(Background, IsWrittenAsItIsParsed) {
    for (const char* text : {"first", "mean:0.02", "mixture", "mixture:history=50:shadows=1", "adaptive",
                             "adaptive:threshold=20:texture=3:shadows=0", "empty room.png"})
        EXPECT_EQ(to_string(parse_background(text)), text);
}

TEST(Background, IsReadyOnceLaterFramesOutweighTheFirst) {
    const auto frames = [](const char* text) { return frames_before_background(parse_background(text)); };
    EXPECT_EQ(frames("room.png"), 0);
    EXPECT_EQ(frames("first"), 1);
    EXPECT_EQ(frames("mean:1"), 2) << "the second frame's background is the first frame alone";
    EXPECT_EQ(frames("mean:0.5"), 2);
    EXPECT_EQ(frames("mean:0.4"), 3) << "0.6, 0.36";
    EXPECT_EQ(frames("mean:0.02"), 36) << "0.98^34 is 0.503";
    EXPECT_EQ(frames("mixture"), 5) << "3/4 5/6 7/8 9/10 is 0.49";
    EXPECT_EQ(frames("mixture:history=1"), 2);
    EXPECT_EQ(frames("mixture:learning_rate=0.02"), 36);
    EXPECT_EQ(frames("mixture:learning_rate=0"), 1) << "as with first";
}

TEST(Background, ErrorsListTheAllowedValues) {
    for (const auto* text : {"mean", "mean:", "mean:0", "mean:1.5", "mean:nan", "mean:0.1x"})
        EXPECT_NE(message(text).find("above 0 and at most 1"), std::string::npos) << text;
    for (const auto* text : {"", "frist", "first:", "mixtures"})
        EXPECT_NE(message(text).find("allowed: first, mean:RATE, mixture"), std::string::npos) << text;
    EXPECT_NE(message("frist").find("did you mean 'first'?"), std::string::npos);
    EXPECT_EQ(message("mixture:histroy=5"),
              "mixture has no parameter 'histroy'; its parameters: history, var_threshold, var_threshold_gen, "
              "mixtures, var_init, var_min, var_max, complexity_reduction, background_ratio, shadows, "
              "shadow_threshold, learning_rate, learn_every; did you mean 'history'?");
    EXPECT_NE(message("mixture:history").find("'history' is not key=value"), std::string::npos);
    EXPECT_EQ(message("mixture:history=5.5"),
              "mixture: history '5.5' is not a whole number; allowed: a whole number from 1 to 1000000");
    EXPECT_EQ(message("mixture:history=0"),
              "mixture: history '0' is out of range; allowed: a whole number from 1 to 1000000");
    EXPECT_NE(message("mixture:var_min=nan").find("var_min 'nan' is not a number"), std::string::npos);
    EXPECT_NE(message("mixture:var_min=80").find("var_min 80 is above var_max, which is 75"), std::string::npos);
    EXPECT_NE(message("mixture:learning_rate=-0.5").find("0 to 1, and -1 for automatic"), std::string::npos);
    EXPECT_NE(message("mixture:shadows=yes").find("0 or 1"), std::string::npos);
    EXPECT_EQ(message("mixture:shadow_threshold=0.4"), "mixture: shadow_threshold has no effect without shadows=1");
    EXPECT_EQ(message("mixture:shadow_threshold=0.4:shadows=1"), "");
    EXPECT_NE(message("mixture::").find("'' is not key=value"), std::string::npos);
}

// Computes the formula in double precision, which represents all of its numbers exactly.
HostImage reference(double rate, HostView<const std::uint8_t> frames) {
    constexpr double unit = 65536;
    const double rate_units = std::max(std::round(rate * unit), 1.0);
    HostImage backgrounds(frames.shape());
    for (int y = 0; y < frames.shape().height; ++y)
        for (int x = 0; x < frames.shape().width; ++x) {
            double mean = unit * frames.row(0, y)[x];
            for (int frame = 0; frame < frames.shape().frames; ++frame) {
                backgrounds.view().row(frame, y)[x] = static_cast<std::uint8_t>(std::floor(mean / unit + 0.5));
                mean += std::floor(rate_units * (unit * frames.row(frame, y)[x] - mean) / unit + 0.5);
            }
        }
    return backgrounds;
}

// Runs the frames in batches of `batch`; the last batch can be shorter.
void run(MeanBackground& mean, Backend backend, const kit::GuardedImage& frames, const kit::GuardedImage& backgrounds,
         int batch) {
    const auto count = frames.view().shape().frames;
    const auto in_batches = [&](auto from, auto to) {
        for (int first = 0; first < count; first += batch) {
            const int here = std::min(batch, count - first);
            mean.run(from.frames(first, here), to.frames(first, here));
        }
    };
    if (backend == Backend::cpu) {
        in_batches(frames.view(), backgrounds.view());
    } else if constexpr (cuda::compiled) {
        const auto& stream = kit::executor(backend).stream();
        const kit::DeviceMirror device_frames(frames), device_backgrounds(backgrounds);
        device_frames.upload(stream);
        device_backgrounds.upload(stream);
        in_batches(device_frames.view(), device_backgrounds.view());
        device_backgrounds.download(stream);
    }
}

using MeanBackgroundTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(MeanBackgroundTest);

TEST_P(MeanBackgroundTest, MatchesTheFormula) {
    auto& executor = kit::executor(GetParam());
    constexpr double rates[] = {0.02, 1, 0.5, 0.001, 1e-9};
    for (const auto& shape : kit::small_shapes(1, 9))
        for (const auto& layout : kit::layouts())
            for (const auto rate : rates) {
                const kit::GuardedImage frames(shape, layout);
                kit::GuardedImage backgrounds(shape, layout);
                kit::fill(frames.view(), kit::Fill::noise, static_cast<std::uint64_t>(shape.width));
                const auto want = reference(rate, frames.view());
                kit::for_each_instruction_set(GetParam(), [&](const std::string& name) {
                    SCOPED_TRACE(name + ", " + to_string(shape) + ", " + kit::to_string(layout));
                    backgrounds.reset(0xA5);
                    MeanBackground mean(rate, shape, executor);
                    run(mean, GetParam(), frames, backgrounds, 9);
                    ASSERT_EQ(kit::first_difference(backgrounds.view(), want.view()), std::nullopt) << "rate " << rate;
                    ASSERT_EQ(backgrounds.broken_guard(), std::nullopt);
                    for (const int batch : {1, 4}) {
                        mean.reset();
                        backgrounds.reset(0xA5);
                        run(mean, GetParam(), frames, backgrounds, batch);
                        ASSERT_EQ(kit::first_difference(backgrounds.view(), want.view()), std::nullopt)
                            << "batch " << batch;
                    }
                });
                if (HasFatalFailure()) return;
            }
}

// Covers the full range over many frames: the means must converge to the right values.
TEST_P(MeanBackgroundTest, MatchesTheFormulaOverManyFrames) {
    const Shape shape{1000, 2, 67, 1};
    const kit::GuardedImage frames(shape, {}), backgrounds(shape, {});
    kit::fill(frames.view(), kit::Fill::noise, 5);
    for (int frame = 500; frame < shape.frames; ++frame)
        std::fill_n(frames.view().row(frame, 1), shape.width, static_cast<std::uint8_t>(frame < 700 ? 255 : 0));
    const auto want = reference(0.02, frames.view());
    MeanBackground mean(0.02, shape, kit::executor(GetParam()));
    run(mean, GetParam(), frames, backgrounds, 32);
    EXPECT_EQ(kit::first_difference(backgrounds.view(), want.view()), std::nullopt);
    // The share of earlier frames is 0.98^199 after the white frames and 0.98^299 after the black ones.
    EXPECT_GE(backgrounds.view().row(699, 1)[0], 250);
    EXPECT_LE(backgrounds.view().row(999, 1)[0], 1);
}

TEST(MeanBackground, RejectsInvalidArguments) {
    auto& executor = kit::executor(Backend::cpu);
    const Shape shape{1, 4, 40, 1};
    for (const double rate : {0.0, -0.1, 1.01, std::nan("")})
        EXPECT_THROW(MeanBackground(rate, shape, executor), Error) << rate;
    EXPECT_THROW(MeanBackground(0.1, shape.with_channels(3), executor), Error);
    MeanBackground mean(0.1, shape, executor);
    HostImage frame(shape), wide({1, 4, 41, 1});
    EXPECT_THROW(mean.run(wide.view(), frame.view()), Error);
    EXPECT_THROW(mean.run(frame.view(), wide.view()), Error);
}

using ForegroundTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(ForegroundTest);

// Everything that a run reads and writes, mirrored on the GPU for the CUDA backend.
struct Images {
    kit::GuardedImage frames, background, blurred;
    HostBitMask mask;
    Backend backend;

    Images(Backend on, const Shape& shape, int background_frames, kit::Layout layout, kit::Fill fill_with)
        : frames(shape, layout),
          background(shape.with_channels(1).with_frames(background_frames), layout),
          blurred(shape.with_channels(1), layout),
          mask(shape),
          backend(on) {
        kit::fill(frames.view(), fill_with, 1);
        kit::fill(background.view(), kit::Fill::noise, 2);
        // About half of the pixels are near the blurred values, whatever the blur.
        for (int frame = 0; frame < background_frames; ++frame)
            for (int y = 0; y < shape.height; ++y)
                for (int x = 0; x < shape.width; ++x) {
                    auto& pixel = background.view().row(frame, y)[x];
                    pixel = static_cast<std::uint8_t>(128 + pixel % 64 - 32);
                }
    }

    void run(Foreground& foreground, bool only_blur, bool keep_blurred) {
        auto& executor = kit::executor(backend);
        blurred.reset(0x5A);
        std::memset(mask.view().data(), 0xA5, bit_mask_bytes(mask.shape()));
        if (backend == Backend::cpu) {
            if (only_blur)
                foreground.blur(frames.view(), blurred.view());
            else
                foreground.run(frames.view(), background.view(), mask.view(),
                               keep_blurred ? blurred.view() : HostView<std::uint8_t>{});
            return;
        }
        const kit::DeviceMirror on_frames(frames), on_background(background), on_blurred(blurred);
        DeviceBitMask on_mask(mask.shape());
        for (const auto* mirror : {&on_frames, &on_background, &on_blurred}) mirror->upload(executor.stream());
        cuda::upload(mask.view().data(), on_mask.view().data(), bit_mask_bytes(mask.shape()), executor.stream());
        if constexpr (cuda::compiled) {
            if (only_blur)
                foreground.blur(on_frames.view(), on_blurred.view());
            else
                foreground.run(on_frames.view(), on_background.view(), on_mask.view(),
                               keep_blurred ? on_blurred.view() : DeviceView<std::uint8_t>{});
        }
        on_blurred.download(executor.stream());
        cuda::download(on_mask.view().data(), mask.view().data(), bit_mask_bytes(mask.shape()), executor.stream());
        executor.stream().synchronize();
    }
};

void check(Backend backend, ForegroundParameters parameters, const Shape& shape, kit::Layout layout,
           kit::Fill fill_with) {
    HostImage want(shape.with_channels(1));
    for (const bool background_each : {false, true}) {
        Images images(backend, shape, background_each ? shape.frames : 1, layout, fill_with);
        blurred_gray_reference(parameters.blur, images.frames.view(), want.view());
        HostBitMask want_mask(shape);
        difference_reference(parameters.threshold, want.view(), images.background.view(), want_mask.view());
        kit::for_each_instruction_set(backend, [&](const std::string& instruction_set) {
            SCOPED_TRACE(fmt::format("blur {}, threshold {}, {}, {}, fill {}, {}, seed {}", parameters.blur,
                                     parameters.threshold, to_string(shape), to_string(layout), to_string(fill_with),
                                     instruction_set, kit::seed()));
            Foreground foreground(parameters, shape, kit::executor(backend));
            enum { mask_only, mask_and_blurred, blurred_only };
            for (const int what : {mask_only, mask_and_blurred, blurred_only}) {
                images.run(foreground, what == blurred_only, what == mask_and_blurred);
                if (what != mask_only) {
                    ASSERT_EQ(kit::first_difference(images.blurred.view(), want.view()), std::nullopt);
                }
                ASSERT_EQ(images.blurred.broken_guard(), std::nullopt);
                if (what == blurred_only) continue;
                ASSERT_EQ(std::memcmp(images.mask.view().data(), want_mask.view().data(), bit_mask_bytes(shape)), 0)
                    << "the masks differ (including pixels outside the image)";
            }
        });
    }
}

TEST_P(ForegroundTest, MatchesTheFiltersForEveryShapeAndLayout) {
    for (const int channels : {3, 1})
        for (const auto& shape : kit::small_shapes(channels, 2))
            for (const auto& layout : kit::layouts())
                for (const auto fill_with : {kit::Fill::noise, kit::Fill::ramp}) {
                    check(GetParam(), {}, shape, layout, fill_with);
                    if (HasFatalFailure()) return;
                }
}

TEST_P(ForegroundTest, MatchesTheFiltersForEveryBlurSize) {
    for (int blur = 1; blur <= 255; blur += blur < 40 && !kit::brief() ? 1 : 27) {
        check(GetParam(), {.blur = blur, .threshold = 3}, {1, 70, 331, blur % 3 ? 3 : 1}, {}, kit::Fill::noise);
        if (HasFatalFailure()) return;
    }
}

TEST_P(ForegroundTest, MatchesTheFiltersForLowAndHighThresholds) {
    for (const int threshold : {0, 1, 19, 20, 127, 128, 254, 255})
        for (const int blur : {1, 15}) {
            check(GetParam(), {.blur = blur, .threshold = threshold}, {1, 37, 131, 3}, {}, kit::Fill::checkerboard);
            check(GetParam(), {.blur = blur, .threshold = threshold}, {1, 37, 131, 1}, {}, kit::Fill::full);
            if (HasFatalFailure()) return;
        }
}

// Covers several tiles, strips and bands, with whole and partial vectors at their ends.
TEST_P(ForegroundTest, MatchesTheFiltersForLargeFrames) {
    for (const auto& shape : {Shape{2, 300, 1920, 3}, Shape{1, 511, 2333, 3}, Shape{3, 720, 1280, 1}}) {
        check(GetParam(), {}, shape, {}, kit::Fill::noise);
        if (HasFatalFailure()) return;
    }
}

TEST(Foreground, RejectsInvalidArguments) {
    auto& executor = kit::executor(Backend::cpu);
    const Shape shape{2, 8, 40, 3};
    EXPECT_THROW(Foreground({.blur = 0}, shape, executor), Error);
    EXPECT_THROW(Foreground({.blur = 256}, shape, executor), Error);
    EXPECT_THROW(Foreground({.threshold = -1}, shape, executor), Error);
    EXPECT_THROW(Foreground({.threshold = 256}, shape, executor), Error);
    EXPECT_THROW(Foreground({}, shape.with_frames(0), executor), Error);

    const Foreground foreground({}, shape, executor);
    HostImage frames(shape), gray(shape.with_channels(1)), three(shape.with_channels(1).with_frames(3));
    HostBitMask mask(shape), small({2, 8, 39, 1});
    EXPECT_NO_THROW(foreground.run(gray.view(), gray.view(), mask.view()));
    EXPECT_THROW(foreground.run(three.view(), gray.view(), mask.view()), Error);
    EXPECT_THROW(foreground.run(frames.view(), frames.view(), mask.view()), Error);
    EXPECT_THROW(foreground.run(frames.view(), three.view(), mask.view()), Error);
    EXPECT_THROW(foreground.run(frames.view(), gray.view(), small.view()), Error);
    EXPECT_THROW(foreground.run(frames.view(), gray.view(), mask.view(), frames.view()), Error);
    EXPECT_THROW(foreground.blur(frames.view(), three.view()), Error);
}

}  // namespace
}  // namespace framewire
