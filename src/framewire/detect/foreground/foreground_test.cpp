#include "framewire/detect/foreground/foreground.hpp"

#include "framewire/core/error.hpp"
#include "framewire/cuda/device/build.hpp"
#include "framewire/detect/foreground/foreground_ref.hpp"
#include "kit/filter_check.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace framewire {
namespace foreground_test {

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
        const kit::DeviceTwin on_frames(frames), on_background(background), on_blurred(blurred);
        DeviceBitMask on_mask(mask.shape());
        for (const auto* twin : {&on_frames, &on_background, &on_blurred}) twin->upload(executor.stream());
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
                    << "the masks differ, pixels outside the image included";
            }
        });
    }
}

TEST_P(ForegroundTest, EqualsTheFiltersForEveryShapeAndLayout) {
    for (const int channels : {3, 1})
        for (const auto& shape : kit::small_shapes(channels, 2))
            for (const auto& layout : kit::layouts())
                for (const auto fill_with : {kit::Fill::noise, kit::Fill::ramp}) {
                    check(GetParam(), {}, shape, layout, fill_with);
                    if (HasFatalFailure()) return;
                }
}

TEST_P(ForegroundTest, EqualsTheFiltersForEveryBlur) {
    for (int blur = 1; blur <= 255; blur += blur < 40 && !kit::brief() ? 1 : 27) {
        check(GetParam(), {.blur = blur, .threshold = 3}, {1, 70, 331, blur % 3 ? 3 : 1}, {}, kit::Fill::noise);
        if (HasFatalFailure()) return;
    }
}

TEST_P(ForegroundTest, EqualsTheFiltersForEveryThreshold) {
    for (const int threshold : {0, 1, 19, 20, 127, 128, 254, 255})
        for (const int blur : {1, 15}) {
            check(GetParam(), {.blur = blur, .threshold = threshold}, {1, 37, 131, 3}, {}, kit::Fill::checkerboard);
            check(GetParam(), {.blur = blur, .threshold = threshold}, {1, 37, 131, 1}, {}, kit::Fill::full);
            if (HasFatalFailure()) return;
        }
}

// Several tiles, strips and bands, with and without whole vectors at their ends.
TEST_P(ForegroundTest, EqualsTheFiltersForLargeFrames) {
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
    EXPECT_THROW(foreground.run(gray.view(), gray.view(), mask.view()), Error);
    EXPECT_THROW(foreground.run(frames.view(), frames.view(), mask.view()), Error);
    EXPECT_THROW(foreground.run(frames.view(), three.view(), mask.view()), Error);
    EXPECT_THROW(foreground.run(frames.view(), gray.view(), small.view()), Error);
    EXPECT_THROW(foreground.run(frames.view(), gray.view(), mask.view(), frames.view()), Error);
    EXPECT_THROW(foreground.blur(frames.view(), three.view()), Error);
}

}  // namespace foreground_test
}  // namespace framewire
