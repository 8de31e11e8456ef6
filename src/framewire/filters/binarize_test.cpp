#include "framewire/filters/binarize.hpp"
#include "framewire/filters/binarize_ref.hpp"
#include "kit/filter_check.hpp"
#include "kit/images.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace framewire {
namespace {

// Checks that a group's count is the sum of its four values' counts, and that the largest value is the same.
TEST(GrayGroups, MatchTheHistogram) {
    for (const int width : {1, 7, 8, 67, 1300})
        for (const int brightest : {0, 3, 130, 255}) {
            HostImage image({1, 5, width, 3}), gray(image.view().shape().with_channels(1)),
                groups_gray(gray.view().shape());
            kit::fill(image.view(), kit::Fill::noise, static_cast<std::uint64_t>(width));
            auto* const bytes = image.view().data();
            for (int at = 0; at < 15 * width; ++at) bytes[at] = static_cast<std::uint8_t>(bytes[at] * brightest / 255);
            Histogram each, groups;
            count_gray(image.view(), 0, 5, gray.view().data(), width, each);
            count_gray_groups(image.view(), 0, 5, groups_gray.view().data(), width, groups);
            EXPECT_EQ(kit::first_difference(gray.view(), groups_gray.view()), std::nullopt);
            const auto largest = [](const Histogram& counts) {
                return std::find_if(counts.rbegin(), counts.rend(), [](auto count) { return count > 0; }) -
                       counts.rbegin();
            };
            EXPECT_EQ(largest(groups), largest(each));
            for (std::size_t group = 0; group < 256; group += 4)
                EXPECT_EQ(groups[group] + groups[group + 1] + groups[group + 2] + groups[group + 3],
                          each[group] + each[group + 1] + each[group + 2] + each[group + 3]);
        }
}

Histogram of(std::initializer_list<std::pair<int, std::uint32_t>> counts) {
    Histogram histogram{};
    for (const auto& [bin, count] : counts) histogram[static_cast<std::size_t>(bin)] = count;
    return histogram;
}

// Returns realistic and extreme histograms: hills with noise, a few or many values, and spikes.
std::vector<Histogram> many_histograms() {
    std::mt19937 random(static_cast<unsigned>(kit::seed()));
    const auto below = [&](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
    std::vector<Histogram> all;
    for (int turn = 0; turn < 3000; ++turn) {
        Histogram histogram{};
        if (turn % 3 == 0) {
            for (int spike = 1 + below(6); spike > 0; --spike)
                histogram[static_cast<std::size_t>(below(256))] +=
                    1u + static_cast<unsigned>(below(turn % 2 ? 3 : 100000));
        } else {
            for (int hill = 1 + below(3); hill > 0; --hill) {
                const double center = below(256), width = 1 + below(40), height = 10 + below(20000);
                for (int bin = 0; bin < 256; ++bin) {
                    const double distance = (bin - center) / width;
                    histogram[static_cast<std::size_t>(bin)] +=
                        static_cast<unsigned>(height * std::exp(-distance * distance) * (0.9 + 0.2 * below(100) / 100));
                }
            }
            ++histogram[128];
        }
        all.push_back(histogram);
    }
    return all;
}

TEST(Threshold, TwoMaxIsTheClampedMeanOfTheTwoMostFrequentValues) {
    EXPECT_EQ(two_max_threshold(of({{60, 9}, {141, 8}, {250, 7}})), 100);
    EXPECT_EQ(two_max_threshold(of({{10, 9}, {20, 8}})), 50);
    EXPECT_EQ(two_max_threshold(of({{230, 9}, {255, 8}})), 200);
    EXPECT_EQ(two_max_threshold(of({{255, 9}, {100, 8}})), 177);
}

TEST(Threshold, TwoMaxPrefersTheDarkerValueOnATie) {
    EXPECT_EQ(two_max_threshold(of({{100, 5}, {120, 5}, {140, 5}})), 110);
    EXPECT_EQ(two_max_threshold(of({{90, 5}, {120, 9}, {140, 5}})), 105);
    // If all pixels have one value, the second value is the darkest of the empty bins.
    EXPECT_EQ(two_max_threshold(of({{180, 5}})), 90);
    EXPECT_EQ(two_max_threshold(of({{0, 5}})), 50);
    EXPECT_EQ(two_max_threshold(of({{255, 5}})), 127);
}

TEST(Threshold, OtsuHandlesFewValues) {
    EXPECT_EQ(otsu_threshold(of({{77, 1000}})), 0);
    EXPECT_EQ(otsu_threshold(of({{40, 10}, {200, 10}})), 40);
    EXPECT_EQ(otsu_threshold(of({{40, 10}, {50, 10}, {200, 20}})), 50);
}

TEST(Threshold, TwoPeaksFindsTheMiddleOfTheValley) {
    EXPECT_EQ(two_peaks_threshold(of({{50, 100}, {200, 100}})), 125);
    EXPECT_EQ(two_peaks_threshold(of({{0, 100}, {255, 1}})), 127);
    EXPECT_EQ(two_peaks_threshold(of({{100, 9}, {101, 5}, {102, 4}, {103, 8}})), 102);
}

TEST(Threshold, TwoPeaksIgnoresSpikes) {
    Histogram histogram{};
    std::mt19937 random(1);
    for (int bin = 0; bin < 256; ++bin)
        for (const double center : {70.0, 180.0})
            histogram[static_cast<std::size_t>(bin)] +=
                static_cast<std::uint32_t>(1000 * std::exp(-(bin - center) * (bin - center) / 800) *
                                           (0.7 + 0.6 * static_cast<double>(random() % 100) / 100));
    EXPECT_NEAR(two_peaks_threshold(histogram), 125, 5);
}

TEST(Threshold, TwoPeaksFallsBackToOtsu) {
    Histogram hill{};
    for (int bin = 0; bin < 256; ++bin)
        hill[static_cast<std::size_t>(bin)] = static_cast<std::uint32_t>(1000 - std::abs(bin - 90) * 3);
    EXPECT_EQ(two_peaks_threshold(hill), otsu_threshold(hill));
    EXPECT_EQ(two_peaks_threshold(of({{31, 7}})), 0);
    // Three similar hills, of which the outer two vanish in the same pass.
    EXPECT_EQ(two_peaks_threshold(of({{27, 50}, {127, 60}, {128, 60}, {228, 50}})),
              otsu_threshold(of({{27, 50}, {127, 60}, {128, 60}, {228, 50}})));
}

TEST(Threshold, TwoPeaksHandlesTheLargestImage) {
    constexpr std::uint32_t largest = 16384u * 16384u;
    EXPECT_EQ(two_peaks_threshold(of({{255, largest}})), 0);
    EXPECT_EQ(two_peaks_threshold(of({{0, largest - 1}, {255, 1}})), 127);
    EXPECT_EQ(two_peaks_threshold(of({{254, largest / 2}, {255, largest / 2}})),
              otsu_threshold(of({{254, largest / 2}, {255, largest / 2}})));
}

// Computes Otsu's threshold from all candidates, as the GPU does; returns nothing if the GPU would have to run the
// sequence.
std::optional<int> otsu_by_candidates(const Histogram& histogram) {
    std::uint64_t pixels = 0, sum = 0;
    for (std::size_t bin = 0; bin < 256; ++bin) {
        pixels += histogram[bin];
        sum += bin * histogram[bin];
    }
    std::vector<double> variances;
    std::uint64_t dark = 0, dark_sum = 0;
    for (std::size_t bin = 0; bin < 256; ++bin) {
        dark += histogram[bin];
        dark_sum += bin * histogram[bin];
        const auto candidate = otsu_candidate(dark, dark_sum, pixels, sum);
        if (!candidate.certain) return {};
        variances.push_back(candidate.variance);
    }
    const auto best = std::max_element(variances.begin(), variances.end());
    if (*best < 0) return 0;
    if (*best < otsu_uncertainty) return {};
    for (auto other = variances.begin(); other != variances.end(); ++other)
        if (other != best && *other >= 0 && *best - *other < otsu_uncertainty) return {};
    return static_cast<int>(best - variances.begin());
}

TEST(Threshold, ConclusiveOtsuCandidatesMatchTheFullSearch) {
    int decided = 0, hills = 0, turn = 0;
    for (const auto& histogram : many_histograms()) {
        const auto found = otsu_by_candidates(histogram);
        const bool is_hills = turn++ % 3 != 0;
        hills += is_hills;
        if (!found) continue;
        decided += is_hills;
        ASSERT_EQ(*found, otsu_threshold(histogram)) << "histogram " << turn - 1;
    }
    EXPECT_GT(decided, hills * 3 / 4) << "the parallel search must decide most histograms";
}

}  // namespace
}  // namespace framewire

// Compiled with -ffp-contract=off for sauvola's reference.

namespace framewire {
namespace {

using BinarizeTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(BinarizeTest);

auto reference(std::function<int(const Histogram&)> choose) {
    return
        [choose](const FilterImages<MemorySpace::host>& images) { binarize_reference(choose, images.in, images.out); };
}

TEST_P(BinarizeTest, TwoMaxMatchesTheFormula) {
    for (const int channels : {3, 1})
        kit::check_filter(
            GetParam(),
            {.info = binarize_info(), .values = {}, .channels = channels, .reference = reference(two_max_threshold)});
}

TEST_P(BinarizeTest, OtsuMatchesTheFormula) {
    for (const int channels : {3, 1})
        kit::check_filter(GetParam(), {.info = binarize_info(),
                                       .values = {{"method", "otsu"}},
                                       .channels = channels,
                                       .reference = reference(otsu_threshold)});
}

TEST_P(BinarizeTest, TwoPeaksMatchesTheFormula) {
    kit::check_filter(
        GetParam(),
        {.info = binarize_info(), .values = {{"method", "two-peaks"}}, .reference = reference(two_peaks_threshold)});
}

TEST_P(BinarizeTest, FixedMatchesTheFormula) {
    for (const int channels : {3, 1})
        for (const auto* level : {"0", "100", "255"})
            kit::check_filter(GetParam(),
                              {.info = binarize_info(),
                               .values = {{"method", "fixed"}, {"level", level}},
                               .channels = channels,
                               .reference = reference([level](const Histogram&) { return std::stoi(level); })});
}

TEST_P(BinarizeTest, SauvolaMatchesTheFormula) {
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
    kit::DeviceMirror device_in(in), device_out(out);
    device_in.upload(executor.stream());
    device_out.upload(executor.stream());
    filter.run(FilterImages<MemorySpace::device>{device_in.view(), {}, device_out.view()});
    device_out.download(executor.stream());
}

// Tests windows up to the largest, some wider and taller than the image, on images with several strips and bands.
TEST_P(BinarizeTest, SauvolaHandlesSmallAndLargeWindows) {
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

// Runs a batch with many kinds of histograms: a few values, hills, one value.
TEST_P(BinarizeTest, ThresholdsMatchTheFormulaForManyHistograms) {
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

TEST_P(BinarizeTest, ReportsTheFixedLevel) {
    const Shape shape{1, 4, 4, 3};
    kit::GuardedImage in(shape, {}), out(shape, {});
    const auto values = with_defaults(binarize_info(), {{"method", "fixed"}, {"level", "77"}});
    const auto filter = binarize_info().make(values, shape, kit::executor(GetParam()));
    run_on(GetParam(), *filter, in, out);
    ASSERT_EQ(filter->figures().size(), 1u);
    EXPECT_EQ(filter->figures()[0].value, 77);
}

TEST(Binarize, RejectsParametersThatTheMethodDoesNotUse) {
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

TEST(Binarize, RejectsInvalidParametersAndShapes) {
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

}  // namespace
}  // namespace framewire
