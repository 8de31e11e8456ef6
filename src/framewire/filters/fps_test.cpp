#include "framewire/filters/fps.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace framewire {
namespace {

// Returns how often each of `frames` frames at the rate `from` is shown at the rate `to`.
std::vector<std::int64_t> counts(Rational from, Rational to, int frames) {
    FpsSchedule schedule(to);
    schedule.begin(0);
    std::vector<std::int64_t> all;
    for (int frame = 1; frame <= frames; ++frame) {
        all.push_back(schedule.count_until(frame / from.value()));
        for (std::int64_t given = 0; given < all.back(); ++given) schedule.give();
    }
    return all;
}

using Counts = std::vector<std::int64_t>;

TEST(Fps, DropsAndRepeatsFrames) {
    EXPECT_EQ(counts({10, 1}, {10, 1}, 4), (Counts{1, 1, 1, 1}));
    EXPECT_EQ(counts({10, 1}, {20, 1}, 3), (Counts{2, 2, 2}));
    EXPECT_EQ(counts({10, 1}, {5, 1}, 6), (Counts{1, 0, 1, 0, 1, 0}));
    EXPECT_EQ(counts({10, 1}, {15, 1}, 6), (Counts{2, 1, 2, 1, 2, 1}));
    EXPECT_EQ(counts({30000, 1001}, {30, 1}, 3), (Counts{1, 1, 1}));
}

TEST(Fps, DoesNotDriftOverALongTime) {
    std::int64_t sum = 0;
    for (const auto count : counts({30000, 1001}, {25, 1}, 300'000)) sum += count;
    EXPECT_EQ(sum, 250'250);
}

TEST(Fps, StartsAtAnyTime) {
    FpsSchedule schedule({10, 1});
    schedule.begin(2.04);
    EXPECT_EQ(schedule.next(), 20);
    EXPECT_EQ(schedule.count_until(2.31), 3);
}

TEST(Fps, DoesNotFillLongGaps) {
    FpsSchedule schedule({1000, 1});
    schedule.begin(0);
    EXPECT_EQ(schedule.count_until(1e9), 1);
    EXPECT_EQ(schedule.give(), 999'999'999'999);
    EXPECT_EQ(schedule.count_until(1e300), 1);
    EXPECT_EQ(schedule.count_until(0), 0) << "nor goes back";
}

TEST(Fps, RejectsUseWithOneResultPerFrame) {
    Executor executor(BackendChoice::cpu);
    EXPECT_THROW(fps_info().make(with_defaults(fps_info(), {}), {1, 4, 4, 3}, executor), Error);
}

}  // namespace
}  // namespace framewire
