#include "framewire/filters/noise.hpp"
#include "framewire/filters/pointwise_ref.hpp"
#include "kit/filter_check.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

namespace framewire {
namespace {

using NoiseTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(NoiseTest);

TEST_P(NoiseTest, MatchesTheFormula) {
    for (const auto mode : {NoiseMode::mask, NoiseMode::overlay})
        for (const int channels : {3, 1})
            for (const int threshold : {20, 100}) {
                kit::check_filter(GetParam(),
                                  {.info = noise_info(),
                                   .values = {{"threshold", std::to_string(threshold)},
                                              {"mode", mode == NoiseMode::mask ? "mask" : "overlay"}},
                                   .channels = channels,
                                   .reference = [=](const FilterImages<MemorySpace::host>& images) {
                                       noise_reference({threshold, mode}, images.in, images.previous, images.out);
                                   }});
            }
}

// As in the report, red is drawn over the previous frame.
TEST_P(NoiseTest, OverlayOnThePreviousFrameMatchesTheFormula) {
    for (const int channels : {3, 1})
        kit::check_filter(GetParam(), {.info = noise_info(),
                                       .values = {{"threshold", "100"}, {"mode", "overlay"}, {"base", "previous"}},
                                       .channels = channels,
                                       .reference = [](const FilterImages<MemorySpace::host>& images) {
                                           noise_reference({100, NoiseMode::overlay, NoiseBase::previous}, images.in,
                                                           images.previous, images.out);
                                       }});
}

// Tests every pair of values, at thresholds near which sums and comparisons could wrap around.
TEST_P(NoiseTest, MatchesTheFormulaForEveryDifference) {
    const Shape shape{1, 256, 256, 1};
    kit::GuardedImage in(shape, {}), previous(shape, {}), out(shape.with_channels(3), {});
    for (int y = 0; y < 256; ++y)
        for (int x = 0; x < 256; ++x) {
            in.view().row(0, y)[x] = static_cast<std::uint8_t>(x);
            previous.view().row(0, y)[x] = static_cast<std::uint8_t>(y);
        }
    auto& executor = kit::executor(GetParam());
    for (const int threshold : {0, 1, 127, 128, 254, 255}) {
        Noise noise({.threshold = threshold}, shape, executor);
        HostImage want(shape.with_channels(3));
        noise_reference({.threshold = threshold}, in.view(), previous.view(), want.view());
        if (executor.backend() == Backend::cpu) {
            noise.run(FilterImages<MemorySpace::host>{in.view(), previous.view(), out.view()});
        } else if constexpr (cuda::compiled) {
            kit::DeviceMirror device_in(in), device_previous(previous), device_out(out);
            device_in.upload(executor.stream());
            device_previous.upload(executor.stream());
            device_out.upload(executor.stream());
            noise.run(FilterImages<MemorySpace::device>{device_in.view(), device_previous.view(), device_out.view()});
            device_out.download(executor.stream());
        }
        EXPECT_EQ(kit::first_difference(out.view(), want.view()), std::nullopt) << "threshold " << threshold;
    }
}

// Positions in raster order, as a difference encoder finds them with this threshold if its reference is the previous
// frame.
struct Changes {
    std::vector<std::uint32_t> positions, counts;
    std::int64_t capacity;

    Changes(HostView<const std::uint8_t> in, HostView<const std::uint8_t> previous, int threshold)
        : capacity(in.shape().frame_bytes()) {
        const auto& shape = in.shape();
        positions.resize(static_cast<std::size_t>(shape.bytes()));
        for (int frame = 0; frame < shape.frames; ++frame) {
            std::uint32_t count = 0;
            for (int y = 0; y < shape.height; ++y)
                for (std::int64_t x = 0; x < shape.row_bytes(); ++x)
                    if (std::abs(in.row(frame, y)[x] - previous.row(frame, y)[x]) > threshold)
                        positions[static_cast<std::size_t>(frame * capacity) + count++] =
                            static_cast<std::uint32_t>(y * shape.row_bytes() + x);
            counts.push_back(count);
        }
    }
};

// Runs the filter on host memory or on the GPU.
void run_from_changes(const NoiseFromChanges& noise, Executor& executor, const Changes& changes, kit::GuardedImage& in,
                      kit::GuardedImage& out) {
    if (executor.backend() == Backend::cpu) {
        noise.run({changes.positions.data(), nullptr, changes.counts.data(), 1, changes.capacity}, in.view(),
                  out.view());
    } else if constexpr (cuda::compiled) {
        const auto& stream = executor.stream();
        cuda::DeviceBuffer positions(changes.positions.size() * 4), counts(changes.counts.size() * 4);
        cuda::upload(changes.positions.data(), positions.data(), positions.bytes(), stream);
        cuda::upload(changes.counts.data(), counts.data(), counts.bytes(), stream);
        kit::DeviceMirror device_in(in), device_out(out);
        device_in.upload(stream);
        device_out.upload(stream);
        noise.run({positions.as<std::uint32_t>(), nullptr, counts.as<std::uint32_t>(), 1, changes.capacity},
                  device_in.view(), device_out.view());
        device_out.download(stream);
    }
}

TEST_P(NoiseTest, ChangesAndFramesGiveTheSameResult) {
    auto& executor = kit::executor(GetParam());
    for (const int channels : {3, 1})
        for (const auto& shape : {Shape{1, 1, 1, channels}, Shape{3, 37, 53, channels}, Shape{2, 240, 320, channels}})
            for (const auto& layout : kit::layouts())
                for (const auto mode : {NoiseMode::mask, NoiseMode::overlay})
                    for (const int threshold : {0, 200, 255}) {
                        SCOPED_TRACE(fmt::format("{}, {}, mode {}, threshold {}", to_string(shape),
                                                 kit::to_string(layout), static_cast<int>(mode), threshold));
                        kit::GuardedImage in(shape, layout), previous(shape, layout),
                            out(shape.with_channels(3), layout);
                        kit::fill(in.view(), kit::Fill::noise, 1);
                        kit::fill(previous.view(), kit::Fill::noise, 2);
                        HostImage want(shape.with_channels(3));
                        noise_reference({threshold, mode}, in.view(), previous.view(), want.view());
                        const Changes changes(in.view(), previous.view(), threshold);
                        run_from_changes(NoiseFromChanges(mode, shape, executor), executor, changes, in, out);
                        ASSERT_EQ(kit::first_difference(out.view(), want.view()), std::nullopt);
                        ASSERT_EQ(out.broken_guard(), std::nullopt);
                    }
}

// Positions may come from the network through a decoder; they must never write outside the image.
TEST_P(NoiseTest, SkipsPositionsOutsideTheFrame) {
    const Shape shape{1, 4, 4, 3};
    kit::GuardedImage in(shape, {}), out(shape, {});
    Changes changes(in.view(), in.view(), 0);
    changes.positions = {5, 48, 49, 0xFFFFFFFF};
    changes.positions.resize(48);
    for (const std::uint32_t count : {4u, 0xFFFFFFFFu}) {  // the second count exceeds the capacity
        changes.counts = {count};
        run_from_changes(NoiseFromChanges(NoiseMode::mask, shape, kit::executor(GetParam())), kit::executor(GetParam()),
                         changes, in, out);
        EXPECT_EQ(out.view().data()[5], 255);
        EXPECT_EQ(out.view().data()[8], 0);
        EXPECT_EQ(out.broken_guard(), std::nullopt);
    }
}

TEST(Noise, RejectsInvalidParametersAndShapes) {
    auto& executor = kit::executor(Backend::cpu);
    const Shape shape{1, 4, 4, 3};
    EXPECT_THROW(Noise({.threshold = -1}, shape, executor), Error);
    EXPECT_THROW(Noise({.threshold = 256}, shape, executor), Error);
    EXPECT_THROW(Noise({}, shape.with_channels(2), executor), Error);
    const auto info = noise_info();
    EXPECT_THROW(info.output_shape(with_defaults(info, {{"base", "previous"}}), shape), Error);
    EXPECT_THROW(NoiseFromChanges(NoiseMode::mask, shape.with_channels(2), executor), Error);
    HostImage image(shape), wrong({1, 4, 5, 3});
    EXPECT_THROW(
        Noise({}, shape, executor).run(FilterImages<MemorySpace::host>{image.view(), wrong.view(), image.view()}),
        Error);
}

}  // namespace
}  // namespace framewire
