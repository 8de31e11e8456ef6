#include "framewire/pipeline/statistics/progress.hpp"

#include "framewire/core/error.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <unistd.h>

#include <string>

namespace framewire {
namespace progress_test {

StatisticsSnapshot figures(std::int64_t frames, double fps, std::int64_t drops = 0) {
    StatisticsSnapshot snapshot;
    snapshot.frames = frames;
    snapshot.fps = fps;
    snapshot.drops = drops;
    return snapshot;
}

TEST(Progress, ParsesItsModes) {
    EXPECT_EQ(parse_progress("auto"), ProgressMode::automatic);
    EXPECT_EQ(parse_progress("bar"), ProgressMode::bar);
    EXPECT_EQ(parse_progress("json"), ProgressMode::json);
    EXPECT_EQ(parse_progress("none"), ProgressMode::none);
    EXPECT_THROW(parse_progress("dots"), Error);
}

TEST(Progress, BarShowsShareRateAndTimeLeft) {
    EXPECT_EQ(progress_bar(figures(25, 10), 100, 60), "[====               ] frame 25/100  10.0 fps  0:08 left  25%");
    EXPECT_EQ(progress_bar(figures(100, 10, 3), 100, 120),
              "[==============================] frame 100/100  10.0 fps  3 dropped  0:00 left  100%");
    EXPECT_EQ(progress_bar(figures(1, 0.01), 100, 40), "frame 1/100  0.0 fps  2:45:00 left  1%");
}

TEST(Progress, BarOfAnEndlessSourceHasNoShare) {
    EXPECT_EQ(progress_bar(figures(25, 30, 2), {}, 80), "frame 25  30.0 fps  2 dropped");
    EXPECT_EQ(progress_bar(figures(0, 0), {}, 80), "frame 0  0.0 fps");
}

TEST(Progress, BarFitsItsColumns) {
    for (int columns = 0; columns < 100; ++columns)
        EXPECT_LE(progress_bar(figures(25, 10), 100, columns).size(), static_cast<std::size_t>(columns));
}

TEST(Progress, ShowsStatisticsOfADifferenceStream) {
    auto snapshot = figures(10, 20);
    snapshot.seconds = 2;
    snapshot.raw_bytes = 1'000'000;
    snapshot.sent_bytes = 12'500;
    snapshot.delta = {.report_bytes = 50'000, .changed = 0.01, .max_error = 20, .psnr = {}};
    EXPECT_EQ(progress_bar(snapshot, {}, 80), "frame 10  20.0 fps  0.05 Mbit/s, 1.25% of raw");
    const auto json = nlohmann::json::parse(progress_json(snapshot, {}));
    EXPECT_EQ(json["sent_bytes"], 12'500);
    EXPECT_EQ(json["raw_bytes"], 1'000'000);
    EXPECT_EQ(json["report_bytes"], 50'000);
    EXPECT_EQ(json["changed"], 0.01);
    EXPECT_EQ(json["max_error"], 20);
    EXPECT_TRUE(json["psnr"].is_null());
}

TEST(Progress, JsonHasTheSameValues) {
    auto json = nlohmann::json::parse(progress_json(figures(25, 10, 1), 100));
    EXPECT_EQ(json["frame"], 25);
    EXPECT_EQ(json["frames"], 100);
    EXPECT_EQ(json["fps"], 10);
    EXPECT_EQ(json["drops"], 1);
    EXPECT_EQ(json["seconds_left"], 7.5);
    json = nlohmann::json::parse(progress_json(figures(25, 10), {}));
    EXPECT_FALSE(json.contains("frames"));
    EXPECT_FALSE(json.contains("seconds_left"));
}

// Returns what a Progress of this mode writes to a pipe, which is not a terminal.
std::string written(ProgressMode mode) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    Statistics statistics;
    statistics.count_frame(1);
    { const Progress progress(mode, statistics, 10, ends[1]); }
    close(ends[1]);
    std::string text(4096, '\0');
    text.resize(static_cast<std::size_t>(read(ends[0], text.data(), text.size())));
    close(ends[0]);
    return text;
}

TEST(Progress, WritesTheLastStateAsJson) {
    const auto text = written(ProgressMode::json);
    EXPECT_EQ(text.back(), '\n');
    EXPECT_EQ(nlohmann::json::parse(text)["frame"], 1);
}

TEST(Progress, DrawsNoBarWithoutATerminal) {
    EXPECT_EQ(written(ProgressMode::bar), "");
    EXPECT_EQ(written(ProgressMode::automatic), "");
    EXPECT_EQ(written(ProgressMode::none), "");
}

}  // namespace progress_test
}  // namespace framewire
