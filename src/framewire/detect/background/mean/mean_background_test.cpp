#include "framewire/detect/background/mean/mean_background.hpp"

#include "framewire/core/error.hpp"
#include "kit/filter_check.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace framewire {
namespace mean_background_test {

// The formula in double precision, which represents all its numbers exactly.
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
        const kit::DeviceTwin device_frames(frames), device_backgrounds(backgrounds);
        device_frames.upload(stream);
        device_backgrounds.upload(stream);
        in_batches(device_frames.view(), device_backgrounds.view());
        device_backgrounds.download(stream);
    }
}

using MeanBackgroundTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(MeanBackgroundTest);

TEST_P(MeanBackgroundTest, EqualsTheFormula) {
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

// The full range over many frames: the means must converge to the right values.
TEST_P(MeanBackgroundTest, EqualsTheFormulaOverManyFrames) {
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

}  // namespace mean_background_test
}  // namespace framewire
