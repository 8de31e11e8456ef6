// Compiled with -ffp-contract=off for sauvola's reference.

#include "framewire/filters/binarize/binarize.hpp"

#include "framewire/filters/binarize/binarize_ref.hpp"
#include "framewire/filters/binarize/sauvola/sauvola.hpp"
#include "kit/filter_check.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace framewire {
namespace binarize_test {

using BinarizeTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(BinarizeTest);

auto reference(std::function<int(const Histogram&)> choose) {
    return
        [choose](const FilterImages<MemorySpace::host>& images) { binarize_reference(choose, images.in, images.out); };
}

TEST_P(BinarizeTest, TwoMaxEqualsTheFormula) {
    for (const int channels : {3, 1})
        kit::check_filter(
            GetParam(),
            {.info = binarize_info(), .values = {}, .channels = channels, .reference = reference(two_max_threshold)});
}

TEST_P(BinarizeTest, OtsuEqualsTheFormula) {
    for (const int channels : {3, 1})
        kit::check_filter(GetParam(), {.info = binarize_info(),
                                       .values = {{"method", "otsu"}},
                                       .channels = channels,
                                       .reference = reference(otsu_threshold)});
}

TEST_P(BinarizeTest, TwoPeaksEqualsTheFormula) {
    kit::check_filter(
        GetParam(),
        {.info = binarize_info(), .values = {{"method", "two-peaks"}}, .reference = reference(two_peaks_threshold)});
}

TEST_P(BinarizeTest, FixedEqualsTheFormula) {
    for (const int channels : {3, 1})
        for (const auto* level : {"0", "100", "255"})
            kit::check_filter(GetParam(),
                              {.info = binarize_info(),
                               .values = {{"method", "fixed"}, {"level", level}},
                               .channels = channels,
                               .reference = reference([level](const Histogram&) { return std::stoi(level); })});
}

TEST_P(BinarizeTest, SauvolaEqualsTheFormula) {
    for (const int channels : {3, 1})
        kit::check_filter(GetParam(), {.info = binarize_info(),
                                       .values = {{"method", "sauvola"}, {"window", "5"}, {"k", "0.3"}},
                                       .channels = channels,
                                       .reference = [](const FilterImages<MemorySpace::host>& images) {
                                           sauvola_reference({.window = 5, .k = 0.3}, images.in, images.out);
                                       }});
}

// Runs the filter on one image, on the CPU or on the GPU.
void run_on(Backend backend, Filter& filter, const kit::GuardedImage& in, const kit::GuardedImage& out) {
    if (backend == Backend::cpu) return filter.run(FilterImages<MemorySpace::host>{in.view(), {}, out.view()});
    auto& executor = kit::executor(backend);
    kit::DeviceTwin device_in(in), device_out(out);
    device_in.upload(executor.stream());
    device_out.upload(executor.stream());
    filter.run(FilterImages<MemorySpace::device>{device_in.view(), {}, device_out.view()});
    device_out.download(executor.stream());
}

// Windows up to the largest, wider and taller than the image, on images with several strips and bands.
TEST_P(BinarizeTest, SauvolaHandlesEveryWindow) {
    for (const auto& [window, shape] : {std::pair{3, Shape{1, 70, 2100, 3}},
                                        {127, {1, 9, 2200, 1}},
                                        {25, {1, 210, 333, 1}},
                                        {255, {1, 40, 300, 1}},
                                        {255, {1, 300, 40, 1}},
                                        {101, {2, 120, 130, 1}}}) {
        kit::GuardedImage in(shape, {}), out(shape, {});
        HostImage want(shape);
        for (const auto fill : {kit::Fill::noise, kit::Fill::ramp, kit::Fill::full}) {
            kit::fill(in.view(), fill);
            const auto values = with_defaults(
                binarize_info(), {{"method", "sauvola"}, {"window", std::to_string(window)}, {"k", "0.25"}});
            run_on(GetParam(), *binarize_info().make(values, shape, kit::executor(GetParam())), in, out);
            sauvola_reference({.window = window, .k = 0.25}, in.view(), want.view());
            ASSERT_EQ(kit::first_difference(out.view(), want.view()), std::nullopt) << "window " << window;
        }
    }
}

// A batch with many kinds of histograms: a few values, hills, one value.
TEST_P(BinarizeTest, ThresholdsMatchOnManyHistograms) {
    constexpr int frames = 200;
    const Shape shape{frames, 40, 50, 1};
    kit::GuardedImage in(shape, {}), out(shape, {});
    std::mt19937 random(static_cast<unsigned>(kit::seed()));
    for (int frame = 0; frame < frames; ++frame) {
        const int values = 1 + frame % 7, hill = frame % 3 * 12;
        std::uint8_t centers[7];
        for (auto& center : centers) center = static_cast<std::uint8_t>(random());
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x) {
                int value = centers[random() % static_cast<unsigned>(values)];
                for (int i = 0; i < hill; ++i) value += static_cast<int>(random() % 3) - 1;
                in.view().row(frame, y)[x] = static_cast<std::uint8_t>(std::clamp(value, 0, 255));
            }
    }
    HostImage want(shape);
    for (const auto& [name, method] : {std::pair{"two-max", ThresholdMethod::two_max},
                                       {"otsu", ThresholdMethod::otsu},
                                       {"two-peaks", ThresholdMethod::two_peaks}}) {
        SCOPED_TRACE(name);
        const auto filter =
            binarize_info().make(with_defaults(binarize_info(), {{"method", name}}), shape, kit::executor(GetParam()));
        EXPECT_TRUE(filter->figures().empty()) << "before the first run";
        run_on(GetParam(), *filter, in, out);
        std::vector<int> thresholds;
        binarize_reference(
            [&, chosen = method](const Histogram& histogram) {
                thresholds.push_back(choose_threshold(chosen, histogram));
                return thresholds.back();
            },
            in.view(), want.view());
        ASSERT_EQ(kit::first_difference(out.view(), want.view()), std::nullopt);
        const auto figures = filter->figures();
        ASSERT_EQ(figures.size(), thresholds.size());
        for (std::size_t frame = 0; frame < figures.size(); ++frame) {
            EXPECT_EQ(figures[frame].name, "threshold");
            EXPECT_EQ(figures[frame].frame, static_cast<int>(frame));
            EXPECT_EQ(figures[frame].value, thresholds[frame]);
        }
    }
}

TEST_P(BinarizeTest, ReportsAFixedLevel) {
    const Shape shape{1, 4, 4, 3};
    kit::GuardedImage in(shape, {}), out(shape, {});
    const auto values = with_defaults(binarize_info(), {{"method", "fixed"}, {"level", "77"}});
    const auto filter = binarize_info().make(values, shape, kit::executor(GetParam()));
    run_on(GetParam(), *filter, in, out);
    ASSERT_EQ(filter->figures().size(), 1u);
    EXPECT_EQ(filter->figures()[0].value, 77);
}

TEST(Binarize, RejectsParametersThatTheMethodDoesNotRead) {
    const auto info = binarize_info();
    const Shape shape{1, 4, 4, 3};
    const auto with = [&](auto... values) { return info.output_shape(with_defaults(info, {values...}), shape); };
    using Value = std::pair<std::string, std::string>;
    EXPECT_THROW(with(Value{"level", "100"}), Error);
    EXPECT_THROW(with(Value{"method", "otsu"}, Value{"level", "100"}), Error);
    EXPECT_THROW(with(Value{"method", "otsu"}, Value{"window", "31"}), Error);
    EXPECT_THROW(with(Value{"method", "fixed"}, Value{"k", "0.5"}), Error);
    EXPECT_EQ(with(Value{"method", "fixed"}, Value{"level", "100"}), shape);
    EXPECT_EQ(with(Value{"method", "sauvola"}, Value{"window", "31"}, Value{"k", "0.5"}), shape);
}

TEST(Binarize, RejectsWrongParametersAndShapes) {
    auto& executor = kit::executor(Backend::cpu);
    const Shape shape{1, 4, 4, 3};
    EXPECT_THROW(Binarize({.method = {}, .level = 256}, shape, executor), Error);
    EXPECT_THROW(Binarize({.method = {}, .level = -1}, shape, executor), Error);
    EXPECT_THROW(Binarize({}, {1, 4, 4, 2}, executor), Error);
    EXPECT_THROW(Sauvola({.window = 4}, shape, executor), Error);
    EXPECT_THROW(Sauvola({.window = 1}, shape, executor), Error);
    EXPECT_THROW(Sauvola({.window = 257}, shape, executor), Error);
    EXPECT_THROW(Sauvola({.k = -0.1}, shape, executor), Error);
    EXPECT_THROW(Sauvola({.k = 1.1}, shape, executor), Error);
    Binarize binarize({}, shape, executor);
    HostImage in(shape), gray(shape.with_channels(1));
    EXPECT_THROW(binarize.run(FilterImages<MemorySpace::host>{in.view(), {}, gray.view()}), Error);
}

}  // namespace binarize_test
}  // namespace framewire
