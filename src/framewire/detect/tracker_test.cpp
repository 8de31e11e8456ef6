#include "framewire/detect/tracker.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/parameter_fields.hpp"
#include "framewire/detect/assignment.hpp"
#include "kit/allocations.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <vector>

namespace framewire {
namespace {

constexpr int width = 640, height = 360;

// Returns a filled rectangle as a component, or a part of it if the picture's border cuts it.
Component rectangle(double x, double y, int w, int h) {
    const int left = std::max(static_cast<int>(x), 0), top = std::max(static_cast<int>(y), 0);
    const int right = std::min(static_cast<int>(x) + w, width), bottom = std::min(static_cast<int>(y) + h, height);
    Component object{
        .id = 1, .x = left, .y = top, .width = right - left, .height = bottom - top, .area = 0, .sum_x = 0, .sum_y = 0};
    object.area = std::max(object.width, 0) * std::max(object.height, 0);
    object.sum_x = std::int64_t{object.area} * (left + right - 1) / 2;
    object.sum_y = std::int64_t{object.area} * (top + bottom - 1) / 2;
    return object;
}

using Frame = std::vector<Component>;

// Returns what the tracker lists after each frame of a video.
std::vector<std::vector<Track>> tracks_of(Tracker& tracker, const std::vector<Frame>& frames, double fps = 30) {
    std::vector<std::vector<Track>> all;
    for (std::size_t frame = 0; frame < frames.size(); ++frame) {
        const auto tracks = tracker.update(frames[frame], static_cast<double>(frame) / fps);
        all.emplace_back(tracks.begin(), tracks.end());
    }
    return all;
}

std::vector<std::vector<Track>> tracks_of(const std::vector<Frame>& frames, double fps = 30) {
    Tracker tracker({}, width, height);
    return tracks_of(tracker, frames, fps);
}

std::set<std::int64_t> ids_of(const std::vector<std::vector<Track>>& all) {
    std::set<std::int64_t> ids;
    for (const auto& tracks : all)
        for (const auto& track : tracks) ids.insert(track.id);
    return ids;
}

// Returns the best sum of scores over all ways to assign rows from `row` on.
double best_sum(const std::vector<std::vector<double>>& scores, std::size_t row, std::vector<bool>& taken) {
    if (row == scores.size()) return 0;
    double best = best_sum(scores, row + 1, taken);
    for (std::size_t column = 0; column < taken.size(); ++column) {
        if (taken[column] || scores[row][column] <= 0) continue;
        taken[column] = true;
        best = std::max(best, scores[row][column] + best_sum(scores, row + 1, taken));
        taken[column] = false;
    }
    return best;
}

TEST(Assignment, HasTheBestSumOfAllAssignments) {
    std::mt19937 random(1);
    Assignment assignment(6, 7);
    for (int round = 0; round < 500; ++round) {
        const auto rows = random() % 7, columns = random() % 8;
        std::vector<std::vector<double>> scores(rows, std::vector<double>(columns));
        assignment.begin(static_cast<int>(rows), static_cast<int>(columns));
        for (std::size_t row = 0; row < rows; ++row)
            for (std::size_t column = 0; column < columns; ++column) {
                scores[row][column] = random() % 2 ? static_cast<double>(random() % 64) / 64 : 0;
                assignment.set(static_cast<int>(row), static_cast<int>(column), scores[row][column]);
            }
        const auto found = assignment.solve();
        ASSERT_EQ(found.size(), rows);
        double sum = 0;
        std::vector<bool> taken(columns);
        for (std::size_t row = 0; row < rows; ++row) {
            if (found[row] < 0) continue;
            const auto column = static_cast<std::size_t>(found[row]);
            EXPECT_FALSE(taken[column]);
            EXPECT_GT(scores[row][column], 0);
            taken[column] = true;
            sum += scores[row][column];
        }
        std::fill(taken.begin(), taken.end(), false);
        EXPECT_DOUBLE_EQ(sum, best_sum(scores, 0, taken));
    }
}

TEST(Tracker, FollowsAnObject) {
    std::vector<Frame> frames;
    for (int i = 0; i < 60; ++i) frames.push_back({rectangle(100 + 4 * i, 80 + i, 30, 60)});
    const auto all = tracks_of(frames);
    for (std::size_t i = 0; i < all.size(); ++i) {
        ASSERT_EQ(all[i].size(), i >= 6 ? 1u : 0u) << "frame " << i;  // 0.2 s
        if (all[i].empty()) continue;
        const auto& track = all[i][0];
        EXPECT_EQ(track.id, 1);
        EXPECT_EQ(track.object, 0);
        EXPECT_EQ(track.x, 100 + 4.0 * static_cast<double>(i));
        EXPECT_EQ(track.y, 80 + static_cast<double>(i));
        EXPECT_EQ(track.width, 30);
        EXPECT_EQ(track.height, 60);
        EXPECT_NEAR(track.age_s, static_cast<double>(i) / 30, 1e-9);
        EXPECT_EQ(track.unseen_s, 0);
    }
    EXPECT_NEAR(all.back()[0].velocity_x, 120, 2);
    EXPECT_NEAR(all.back()[0].velocity_y, 30, 2);
}

TEST(Tracker, MeasuresTimeInSeconds) {
    for (const double fps : {10.0, 25.0, 50.0, 120.0}) {
        std::vector<Frame> frames;
        for (int i = 0; i < static_cast<int>(2 * fps); ++i)
            frames.push_back({rectangle(60 + i * 150 / fps, 90, 40, 80)});
        const auto all = tracks_of(frames, fps);
        const auto listed = std::count_if(all.begin(), all.end(), [](const auto& tracks) { return !tracks.empty(); });
        EXPECT_NEAR(static_cast<double>(listed) / fps, 1.8, 1.01 / fps) << fps;
        ASSERT_EQ(all.back().size(), 1u);
        EXPECT_NEAR(all.back()[0].velocity_x, 150, 8) << fps;
    }
}

TEST(Tracker, IgnoresWhatIsSeenBriefly) {
    std::vector<Frame> frames;
    std::mt19937 random(2);
    for (int i = 0; i < 300; ++i) {
        Frame frame;
        for (int speck = 0; speck < 5; ++speck) {
            const auto y = random() % 330;  // compilers evaluate arguments in different orders
            const auto x = random() % 600;
            frame.push_back(rectangle(static_cast<double>(x), static_cast<double>(y), 12, 10));
        }
        frames.push_back(i % 4 == 3 ? Frame() : frame);
    }
    EXPECT_TRUE(ids_of(tracks_of(frames)).empty());
}

TEST(Tracker, KeepsAnIdentityThroughAnOcclusion) {
    std::vector<Frame> frames;
    for (int i = 0; i < 90; ++i) {
        const bool hidden = i >= 30 && i < 55;
        frames.push_back(hidden ? Frame() : Frame{rectangle(50 + 5 * i, 100, 40, 80)});
    }
    const auto all = tracks_of(frames);
    EXPECT_EQ(ids_of(all), std::set<std::int64_t>{1});
    ASSERT_EQ(all[40].size(), 1u);
    EXPECT_EQ(all[40][0].object, -1);
    EXPECT_NEAR(all[40][0].unseen_s, 11 / 30.0, 1e-9);
    EXPECT_NEAR(all[40][0].x, 250, 10);
    EXPECT_EQ(all[55][0].unseen_s, 0);
    EXPECT_NEAR(all[55][0].velocity_x, 150, 15);
}

TEST(Tracker, GivesANewIdentityAfterALongAbsence) {
    std::vector<Frame> frames;
    for (int i = 0; i < 120; ++i) frames.push_back(i >= 30 && i < 80 ? Frame() : Frame{rectangle(200, 100, 40, 80)});
    EXPECT_EQ(ids_of(tracks_of(frames)), (std::set<std::int64_t>{1, 2}));
}

TEST(Tracker, EndsTracksThatLeaveThePicture) {
    std::vector<Frame> frames;
    for (int i = 0; i < 40; ++i) {
        const auto object = rectangle(500 + 6 * i, 100, 40, 80);
        frames.push_back(object.area > 0 ? Frame{object} : Frame());
    }
    const auto all = tracks_of(frames);
    EXPECT_EQ(all[22].size(), 1u);
    EXPECT_TRUE(all[27].empty());
}

// Two objects of different speed and size whose rectangles unite into one blob while they overlap.
std::vector<Frame> merging_objects() {
    std::vector<Frame> frames;
    for (int i = 0; i < 100; ++i) {
        const auto one = rectangle(60 + 4 * i, 100, 50, 120), other = rectangle(480 - 3 * i, 110, 60, 110);
        const bool apart = one.x + one.width < other.x || other.x + other.width < one.x;
        if (apart) {
            frames.push_back({one, other});
            continue;
        }
        const int left = std::min(one.x, other.x), right = std::max(one.x + one.width, other.x + other.width);
        frames.push_back({rectangle(left, 100, right - left, 120)});
    }
    return frames;
}

TEST(Tracker, KeepsObjectsApartWhoseBlobsMerge) {
    const auto frames = merging_objects();
    const auto all = tracks_of(frames);
    EXPECT_EQ(ids_of(all), (std::set<std::int64_t>{1, 2}));
    int shared = 0;
    for (std::size_t i = 10; i < all.size(); ++i) {
        ASSERT_EQ(all[i].size(), 2u) << "frame " << i;
        EXPECT_NEAR(all[i][0].x, 60 + 4.0 * static_cast<double>(i), 14) << "frame " << i;
        EXPECT_NEAR(all[i][1].x, 480 - 3.0 * static_cast<double>(i), 14) << "frame " << i;
        shared += all[i][0].object == all[i][1].object;
    }
    EXPECT_GT(shared, 10);
    EXPECT_EQ(all.back()[0].object, 0);
    EXPECT_EQ(all.back()[1].object, 1);
}

TEST(Tracker, JoinsThePartsOfAnObject) {
    std::vector<Frame> frames;
    for (int i = 0; i < 60; ++i) {
        const double x = 80 + 4 * i;
        if (i % 10 < 5 || i < 15)
            frames.push_back({rectangle(x, 100, 50, 140)});
        else
            frames.push_back({rectangle(x, 100, 50, 60), rectangle(x + 5, 168, 40, 72)});
    }
    const auto all = tracks_of(frames);
    EXPECT_EQ(ids_of(all), std::set<std::int64_t>{1});
    for (std::size_t i = 6; i < all.size(); ++i) EXPECT_NEAR(all[i][0].height, 140, 3) << "frame " << i;
}

// The lower part swings, as legs do.
TEST(Tracker, KeepsPartsTogetherThatSwing) {
    std::vector<Frame> frames;
    for (int i = 0; i < 120; ++i) {
        const double x = 80 + 3 * i, swing = 10 * std::sin(i / 4.0);
        if (i < 20)
            frames.push_back({rectangle(x, 100, 50, 140)});
        else
            frames.push_back({rectangle(x, 100, 50, 60), rectangle(x + 5 + swing, 168, 40, 72)});
    }
    const auto all = tracks_of(frames);
    EXPECT_EQ(ids_of(all), std::set<std::int64_t>{1});
    for (std::size_t i = 6; i < all.size(); ++i) EXPECT_NEAR(all[i][0].height, 140, 3) << "frame " << i;
}

// A ball enters in front of a person, so that both are one blob at first, and overtakes.
TEST(Tracker, GivesAnIdentityToAnObjectThatLeavesAnothersBox) {
    std::vector<Frame> frames;
    for (int i = 0; i < 100; ++i) {
        const auto person = rectangle(100 + i, 100, 60, 170), ball = rectangle(110 + 3 * i, 220, 30, 30);
        const int right = std::max(person.x + person.width, ball.x + ball.width);
        if (ball.x <= person.x + person.width)
            frames.push_back({rectangle(person.x, 100, right - person.x, 170)});
        else
            frames.push_back({person, ball});
    }
    const auto all = tracks_of(frames);
    EXPECT_EQ(ids_of(all), (std::set<std::int64_t>{1, 2}));
    for (std::size_t i = 64; i < all.size(); ++i) {  // 1.2 s after they part
        ASSERT_EQ(all[i].size(), 2u) << "frame " << i;
        EXPECT_NEAR(all[i][0].x, 100 + static_cast<double>(i), 2) << "frame " << i;
        EXPECT_NEAR(all[i][0].width, 60, 2) << "frame " << i;
        EXPECT_NEAR(all[i][1].x, 110 + 3.0 * static_cast<double>(i), 2) << "frame " << i;
    }
}

TEST(Tracker, IgnoresABlobThatCoversMoreThanTheObject) {
    std::vector<Frame> frames;
    for (int i = 0; i < 150; ++i) {
        const bool covers_more = i >= 120 && i < 130;
        frames.push_back({rectangle(20 + 4 * i - (covers_more ? 90 : 0), 100, covers_more ? 140 : 50, 100)});
    }
    const auto all = tracks_of(frames);
    EXPECT_EQ(ids_of(all), std::set<std::int64_t>{1});
    for (std::size_t i = 120; i < 130; ++i) EXPECT_NEAR(all[i][0].width, 50, 2) << "frame " << i;
}

TEST(Tracker, StartsAgainAfterReset) {
    const auto frames = merging_objects();
    Tracker tracker({}, width, height);
    const auto first = tracks_of(tracker, frames);
    tracker.reset();
    EXPECT_EQ(tracks_of(tracker, frames), first);
}

TEST(Tracker, NeverReusesAnIdAfterTimeStepsBack) {
    const Frame frame{rectangle(100, 100, 40, 80)};
    Tracker tracker({}, width, height);
    for (int i = 0; i < 10; ++i) tracker.update(frame, 100 + i / 30.0);
    EXPECT_EQ(tracker.update(frame, 100.5).size(), 1u);
    EXPECT_TRUE(tracker.update(frame, 0).empty());
    for (int i = 1; i < 10; ++i) tracker.update(frame, i / 30.0);
    ASSERT_EQ(tracker.update(frame, 10 / 30.0).size(), 1u);
    EXPECT_EQ(tracker.update(frame, 11 / 30.0)[0].id, 2);
    EXPECT_TRUE(tracker.update(frame, 1e9).empty());
}

TEST(Tracker, SurvivesHostileInput) {
    constexpr double no_number = std::numeric_limits<double>::quiet_NaN(),
                     endless = std::numeric_limits<double>::infinity();
    constexpr auto most = std::numeric_limits<std::int32_t>::max();
    std::mt19937 random(3);
    Tracker tracker({.confirm_s = 0, .keep_s = 60}, width, height);
    const double times[] = {0, no_number, 0, endless, 0, -endless, 1e300, -1e300, 5, 5, 5};
    for (int round = 0; round < 60; ++round) {
        Frame frame{
            {1, 0, 0, 0, 0, 0, 0, 0}, {2, most, most, most, most, most, 0, 0}, {3, -most, -most, -1, 5, 7, 0, 0}};
        for (int i = 0; i < 3000; ++i)
            frame.push_back(rectangle(static_cast<double>(random() % 630), static_cast<double>(random() % 350), 3, 3));
        const auto tracks = tracker.update(frame, round < 11 ? times[round] : 5 + round / 30.0);
        EXPECT_LE(tracks.size(), 2u * max_tracked_objects);
        for (const auto& track : tracks) {
            EXPECT_TRUE(std::isfinite(track.x + track.y + track.width + track.height + track.velocity_x));
            EXPECT_LT(track.object, 3003);
        }
    }
}

TEST(Tracker, AllocatesNothing) {
    const auto frames = merging_objects();
    Tracker tracker({}, width, height);
    Frame many;
    for (int i = 0; i < 1000; ++i) many.push_back(rectangle(i * 37 % 600, i * 53 % 330, 9, 9));
    const auto before = kit::allocations();
    for (std::size_t i = 0; i < frames.size(); ++i) tracker.update(frames[i], static_cast<double>(i) / 30);
    for (int i = 0; i < 10; ++i) tracker.update(many, 4 + i / 30.0);
    EXPECT_EQ(kit::allocations(), before);
}

TEST(Tracker, ChecksParameters) {
    EXPECT_EQ(parse_tracker(""), TrackerParameters());
    EXPECT_EQ(parse_tracker("confirm=0.5:keep=3"), (TrackerParameters{.confirm_s = 0.5, .keep_s = 3}));
    EXPECT_THROW(parse_tracker("keep=-1"), Error);
    EXPECT_THROW(parse_tracker("kept=1"), Error);
    EXPECT_THROW(Tracker({.confirm_s = -1}, width, height), Error);
}

}  // namespace
}  // namespace framewire
