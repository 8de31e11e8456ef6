#include "framewire/filters/binarize/threshold.hpp"

#include "framewire/filters/binarize/gray_histogram.hpp"
#include "framewire/filters/binarize/otsu.hpp"
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
namespace threshold_test {

// A group's count is the sum of its four values' counts, and the largest value is the same.
TEST(GrayGroups, MatchTheHistogram) {
    for (const int width : {1, 7, 8, 67, 1300})
        for (const int brightest : {0, 3, 130, 255}) {
            HostImage image({1, 5, width, 3}), gray(image.view().shape().with_channels(1)),
                groups_gray(gray.view().shape());
            kit::fill(image.view(), kit::Fill::noise, static_cast<std::uint64_t>(width));
            auto* const bytes = image.view().data();
            for (int at = 0; at < 15 * width; ++at) bytes[at] = static_cast<std::uint8_t>(bytes[at] * brightest / 255);
            Histogram each, groups, made;
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

            const auto copy_rows = [&](const ImageRows<std::uint8_t>& rows) {
                for (int y = rows.range().begin; y < rows.range().end; ++y)
                    std::copy_n(gray.view().row(0, y), width, rows.row(y));
            };
            kit::fill(groups_gray.view(), kit::Fill::zeros);
            count_gray_groups(copy_rows, width, {0, 5}, groups_gray.view().data(), width, made);
            EXPECT_EQ(made, groups);
            EXPECT_EQ(kit::first_difference(gray.view(), groups_gray.view()), std::nullopt);
        }
}

Histogram of(std::initializer_list<std::pair<int, std::uint32_t>> counts) {
    Histogram histogram{};
    for (const auto& [bin, count] : counts) histogram[static_cast<std::size_t>(bin)] = count;
    return histogram;
}

// Hills with noise, a few or many values, and spikes: realistic histograms and extreme ones.
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

TEST(Threshold, TwoMaxIsTheMeanOfTheTwoMostFrequentClampedTo50To200) {
    EXPECT_EQ(two_max_threshold(of({{60, 9}, {141, 8}, {250, 7}})), 100);
    EXPECT_EQ(two_max_threshold(of({{10, 9}, {20, 8}})), 50);
    EXPECT_EQ(two_max_threshold(of({{230, 9}, {255, 8}})), 200);
    EXPECT_EQ(two_max_threshold(of({{255, 9}, {100, 8}})), 177);
}

TEST(Threshold, TwoMaxTakesTheDarkerOnATie) {
    EXPECT_EQ(two_max_threshold(of({{100, 5}, {120, 5}, {140, 5}})), 110);
    EXPECT_EQ(two_max_threshold(of({{90, 5}, {120, 9}, {140, 5}})), 105);
    // With a single value, the second is the darkest of the empty bins.
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

TEST(Threshold, TwoPeaksSmoothsSpikesAway) {
    Histogram histogram{};
    std::mt19937 random(1);
    for (int bin = 0; bin < 256; ++bin)
        for (const double center : {70.0, 180.0})
            histogram[static_cast<std::size_t>(bin)] +=
                static_cast<std::uint32_t>(1000 * std::exp(-(bin - center) * (bin - center) / 800) *
                                           (0.7 + 0.6 * static_cast<double>(random() % 100) / 100));
    EXPECT_NEAR(two_peaks_threshold(histogram), 125, 5);
}

TEST(Threshold, TwoPeaksFallsBackOnOtsu) {
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

// The GPU's method: all candidates in parallel, undecided if the sequence would have to run.
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

TEST(Threshold, OtsuCandidatesMatchTheSequenceWhenTheyDecide) {
    int decided = 0, hills = 0, turn = 0;
    for (const auto& histogram : many_histograms()) {
        const auto found = otsu_by_candidates(histogram);
        const bool is_hills = turn++ % 3 != 0;
        hills += is_hills;
        if (!found) continue;
        decided += is_hills;
        ASSERT_EQ(*found, otsu_threshold(histogram)) << "histogram " << turn - 1;
    }
    EXPECT_GT(decided, hills * 3 / 4) << "the parallel way must serve most histograms";
}

}  // namespace threshold_test
}  // namespace framewire
