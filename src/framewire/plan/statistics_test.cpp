#include "framewire/plan/statistics.hpp"
#include "framewire/core/error.hpp"

#include <gtest/gtest.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace framewire {
namespace {

TEST(RunValues, CombineStatisticsAndFrame) {
    StatisticsSnapshot figures;
    figures.fps = 25;
    figures.seconds = 2;
    figures.sent_bytes = 1'000'000;
    figures.process_ms.mean_ms = 1.5;
    figures.read_ms.mean_ms = 2.5;
    figures.send_ms.mean_ms = 0.5;
    figures.delta.emplace().changed = 0.25;
    const auto before = std::time(nullptr);
    const auto captured = Clock::now() - std::chrono::hours(1);
    const auto values = run_values(figures, {.index = 50, .seconds = 2.04, .captured = captured}, "lobby.mp4");
    EXPECT_GE(values.clock_s, before - 3601);
    EXPECT_LE(values.clock_s, std::time(nullptr) - 3599);
    EXPECT_EQ(values.read_ms, 2.5);
    EXPECT_EQ(values.send_ms, 0.5);
    EXPECT_EQ(values.fps, 25);
    EXPECT_EQ(values.process_ms, 1.5);
    EXPECT_EQ(values.bandwidth_bits_per_s, 4'000'000);
    EXPECT_EQ(values.changed, 0.25);
    EXPECT_EQ(values.frame, 50);
    EXPECT_EQ(values.time_s, 2.04);
    EXPECT_EQ(values.source, "lobby.mp4");
}

TEST(RunValues, AreZeroBeforeTheFirstFrame) {
    const auto values = run_values({}, {}, "");
    EXPECT_EQ(values.bandwidth_bits_per_s, 0);
    EXPECT_EQ(values.changed, 0);
}

StatisticsSnapshot figures(std::int64_t frames, double fps, std::int64_t drops = 0) {
    StatisticsSnapshot snapshot;
    snapshot.frames = frames;
    snapshot.fps = fps;
    snapshot.drops = drops;
    return snapshot;
}

TEST(Progress, ParsesModes) {
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

TEST(Progress, BarOfAnEndlessSourceShowsNoPercentage) {
    EXPECT_EQ(progress_bar(figures(25, 30, 2), {}, 80), "frame 25  30.0 fps  2 dropped");
    EXPECT_EQ(progress_bar(figures(0, 0), {}, 80), "frame 0  0.0 fps");
}

TEST(Progress, BarFitsTheTerminalWidth) {
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

TEST(Progress, JsonHasTheValuesOfTheBar) {
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

// Returns what a Progress with this mode writes to a pipe, which is not a terminal.
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

TEST(TimeHistogram, PercentilesAreAccurateToOnePercent) {
    std::mt19937_64 random(7);
    std::lognormal_distribution<double> distribution(1.0, 2.0);
    TimeHistogram histogram;
    std::vector<double> all;
    double sum = 0;
    for (int i = 0; i < 20'000; ++i) {
        all.push_back(distribution(random));
        histogram.add(all.back());
        sum += all.back();
    }
    std::sort(all.begin(), all.end());
    for (const double share : {0.0, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0}) {
        const auto rank = std::max(1.0, std::ceil(share * static_cast<double>(all.size())));
        const double exact = all[static_cast<std::size_t>(rank) - 1];
        EXPECT_NEAR(histogram.percentile_ms(share), exact, exact * 0.01 + 1e-6) << share;
    }
    EXPECT_NEAR(histogram.summary().mean_ms, sum / 20'000, 1e-4);
    EXPECT_EQ(histogram.summary().median_ms, histogram.percentile_ms(0.5));
    EXPECT_EQ(histogram.summary().p99_ms, histogram.percentile_ms(0.99));
}

TEST(TimeHistogram, BucketsAreCumulative) {
    TimeHistogram histogram;
    for (const double ms : {0.1, 0.4, 1.5, 9.0, 29.0, 5000.0}) histogram.add(ms);
    const auto buckets = histogram.buckets();
    EXPECT_EQ(buckets.count, 6);
    EXPECT_NEAR(buckets.sum_ms, 5040, 1e-6);
    EXPECT_EQ(buckets.within, (std::array<std::int64_t, 14>{2, 2, 3, 3, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5}));
}

TEST(TimeHistogram, HandlesEveryMagnitude) {
    for (double ms = 1e-6; ms < 6e7; ms *= 1.37) {
        TimeHistogram histogram;
        histogram.add(ms);
        EXPECT_NEAR(histogram.percentile_ms(0.5), ms, ms * 0.01 + 1e-6);
    }
}

TEST(TimeHistogram, CountsInvalidTimesAsZero) {
    TimeHistogram histogram;
    histogram.add(-1);
    histogram.add(std::numeric_limits<double>::quiet_NaN());
    EXPECT_EQ(histogram.percentile_ms(1), 0);
    histogram.add(std::numeric_limits<double>::infinity());
    EXPECT_EQ(histogram.count(), 3);
    EXPECT_GT(histogram.percentile_ms(1), 6e7);
}

TEST(TimeHistogram, MinimumAndMaximumAreExact) {
    TimeHistogram histogram;
    for (const double ms : {3.25, 1.0625, 7.03125}) histogram.add(ms);
    EXPECT_DOUBLE_EQ(histogram.summary().min_ms, 1.0625);
    EXPECT_DOUBLE_EQ(histogram.summary().max_ms, 7.03125);
}

TEST(Statistics, CollectsStepTimesOnlyIfEnabled) {
    Statistics statistics;
    statistics.record_step("gray", 1);
    EXPECT_TRUE(statistics.snapshot().steps.empty());
    EXPECT_EQ(nlohmann::json::parse(to_json(statistics.snapshot(), {})).count("steps"), 0u);

    statistics.time_steps();
    for (const double ms : {1.0, 3.0}) {
        statistics.record_step("gray", ms);
        statistics.record(Stage::send, 2);
        statistics.record_step("mean", 4 * ms);
        statistics.record(Stage::process, 100);
        statistics.record(Stage::read, 8);
    }
    const auto figures = statistics.snapshot();
    std::vector<std::string> names;
    double share = 0;
    for (const auto& step : figures.steps) {
        names.push_back(step.name);
        share += step.share;
        EXPECT_EQ(step.count, 2);
    }
    EXPECT_EQ(names, (std::vector<std::string>{"read", "gray", "mean", "send"}));
    EXPECT_DOUBLE_EQ(share, 1);
    const auto& mean = figures.steps[2];
    EXPECT_DOUBLE_EQ(mean.min_ms, 4);
    EXPECT_DOUBLE_EQ(mean.mean_ms, 8);
    EXPECT_DOUBLE_EQ(mean.max_ms, 12);
    EXPECT_DOUBLE_EQ(mean.share, 0.4);
    EXPECT_EQ(to_table({&mean, 1}),
              "step     min ms    mean ms     max ms    share\n"
              "mean      4.000      8.000     12.000   40.0 %\n");
    const auto json = nlohmann::json::parse(to_json(figures, {}));
    EXPECT_EQ(json["steps"][2]["step"], "mean");
    EXPECT_EQ(json["steps"][2]["max_ms"], 12);
    EXPECT_EQ(json["send_ms"]["min"], 2);
}

TEST(TimeHistogram, IsZeroWhenEmpty) {
    const TimeHistogram histogram;
    EXPECT_EQ(histogram.percentile_ms(0.5), 0);
    EXPECT_EQ(histogram.summary().mean_ms, 0);
}

TEST(Statistics, CountsFramesBytesDropsAndTimes) {
    Statistics statistics;
    statistics.start();
    for (int frame = 0; frame < 10; ++frame) {
        statistics.record(Stage::read, 1);
        statistics.record(Stage::process, 2);
        statistics.record(Stage::send, 3);
        statistics.count_frame(100);
    }
    statistics.count_frame(0);
    statistics.add_raw_bytes(5);
    statistics.count_drop();
    statistics.set_sent_bytes(77);
    const auto figures = statistics.snapshot();
    EXPECT_EQ(figures.frames, 11);
    EXPECT_EQ(figures.drops, 1);
    EXPECT_EQ(figures.raw_bytes, 1005);
    EXPECT_EQ(figures.sent_bytes, 77);
    EXPECT_NEAR(figures.read_ms.mean_ms, 1, 1e-9);
    EXPECT_NEAR(figures.process_ms.median_ms, 2, 0.02);
    EXPECT_NEAR(figures.send_ms.p99_ms, 3, 0.03);
    EXPECT_GT(figures.fps, 0);
    EXPECT_NEAR(figures.fps, 11 / figures.seconds, 1e-6);
    EXPECT_FALSE(figures.delta);
}

TEST(Statistics, DeltaStatisticsFollowTheReportsDefinitions) {
    Statistics statistics;
    statistics.add_delta({.count = 10, .max_error = 12, .squared_error = 400}, 1000);
    statistics.add_delta({.count = 30, .max_error = 7, .squared_error = 0}, 1000);
    const auto delta = statistics.snapshot().delta;
    ASSERT_TRUE(delta);
    EXPECT_EQ(delta->report_bytes, 200);
    EXPECT_DOUBLE_EQ(delta->changed, 0.02);
    EXPECT_EQ(delta->max_error, 12);
    ASSERT_TRUE(delta->psnr);
    EXPECT_NEAR(*delta->psnr, 10 * std::log10(255.0 * 255.0 / 0.2), 1e-9);
}

TEST(Statistics, FirstKeyframeCountsAsRawPixels) {
    Statistics statistics;
    statistics.add_first_picture(1000);
    statistics.add_delta({.count = 10, .max_error = 0, .squared_error = 0}, 1000);
    const auto delta = statistics.snapshot().delta;
    ASSERT_TRUE(delta);
    EXPECT_EQ(delta->report_bytes, 1050);
    EXPECT_DOUBLE_EQ(delta->changed, 0.005);
}

TEST(RateMeter, MeasuresTheMeanAndTheBusiestSecond) {
    RateMeter meter;
    EXPECT_EQ(meter.mean_bits_per_second(), 0);
    // Frames have 100 bytes, except for one second of frames with 1000 bytes. In the middle of that second the time
    // jumps back.
    for (int frame = 0; frame < 90; ++frame)
        meter.add((frame < 45 ? 7 : 0) + frame / 30.0, frame >= 30 && frame < 60 ? 1000 : 100);
    EXPECT_NEAR(meter.most_bits_per_second(), 8 * 30'000, 1e-6);
    EXPECT_NEAR(meter.mean_bits_per_second(), 8 * 36'000 / 3.0, 1);
    meter.pause();
    meter.add(1000, 100);
    EXPECT_NEAR(meter.mean_bits_per_second(), 8 * 36'100 / (91 / 30.0), 1) << "a pause does not count";
    meter.add(2000, 60'000);
    EXPECT_NEAR(meter.most_bits_per_second(), 8 * 60'000, 1e-6);
}

TEST(RateMeter, ToleratesImplausibleTimes) {
    RateMeter meter;
    const double nan = std::numeric_limits<double>::quiet_NaN(), far = std::numeric_limits<double>::max();
    for (int i = 0; i < 30; ++i)
        for (const double seconds : {nan, far, -far, 0.0, 1e-300, -nan}) meter.add(seconds, 10);
    EXPECT_GT(meter.most_bits_per_second(), 0);
    EXPECT_GT(meter.mean_bits_per_second(), 0);
    EXPECT_LE(meter.most_bits_per_second(), 8 * 10 * 180);
}

TEST(Statistics, RatesCountOnlySentDeltaFrames) {
    Statistics statistics;
    statistics.add_step(0, 20, 0);
    EXPECT_FALSE(statistics.snapshot().rate) << "nobody watches";
    EXPECT_FALSE(nlohmann::json::parse(to_json(statistics.snapshot(), {})).contains("threshold"));
    statistics.add_step(0.5, 20, 1000);
    statistics.add_step(1, 40, 2000);
    const auto json = nlohmann::json::parse(to_json(statistics.snapshot(), {}));
    EXPECT_EQ(json["threshold"], (nlohmann::json{{"min", 20}, {"mean", 30.0}, {"max", 40}}));
    EXPECT_EQ(json["bits_per_second"], (nlohmann::json{{"mean", 24'000.0}, {"max", 24'000.0}}));
    EXPECT_FALSE(json.contains("max_bitrate"));
    statistics.set_rate_limit(2e6, 3);
    const auto limited = nlohmann::json::parse(to_json(statistics.snapshot(), {}));
    EXPECT_EQ(limited["max_bitrate"], 2e6);
    EXPECT_EQ(limited["over"], 3);
}

TEST(Statistics, JsonContainsEveryStatistic) {
    Statistics statistics;
    statistics.record(Stage::read, 1);
    statistics.count_frame(100);
    const RunDescription run{.source = "a \"clip\"\n\xFF", .backend = "cpu", .size = {1, 20, 30, 3}};
    auto json = nlohmann::json::parse(to_json(statistics.snapshot(), run));
    EXPECT_EQ(json["source"], "a \"clip\"\n\xEF\xBF\xBD");
    EXPECT_EQ(json["backend"], "cpu");
    EXPECT_FALSE(json.contains("gpu"));
    statistics.set_gpu(1);
    EXPECT_EQ(nlohmann::json::parse(to_json(statistics.snapshot(), run))["gpu"], 1);
    EXPECT_EQ(json["size"], (nlohmann::json{{"width", 30}, {"height", 20}, {"channels", 3}}));
    for (const char* key : {"frames", "drops", "seconds", "fps", "raw_bytes", "sent_bytes"})
        EXPECT_TRUE(json[key].is_number()) << key;
    for (const char* stage : {"read_ms", "process_ms", "send_ms"})
        for (const char* figure : {"mean", "median", "p99"})
            EXPECT_TRUE(json[stage][figure].is_number()) << stage << figure;
    for (const char* key : {"report_bytes", "changed", "max_error", "psnr", "filters"})
        EXPECT_FALSE(json.contains(key)) << key;

    statistics.add_delta({.count = 1, .max_error = 0, .squared_error = 0}, 100);
    json = nlohmann::json::parse(to_json(statistics.snapshot(), run));
    EXPECT_EQ(json["report_bytes"], 5);
    EXPECT_EQ(json["changed"], 0.01);
    EXPECT_EQ(json["max_error"], 0);
    EXPECT_TRUE(json["psnr"].is_null()) << "equal pictures have no finite PSNR";
}

TEST(Statistics, JsonSaysWhereTheVideoIsDecoded) {
    Statistics statistics;
    const auto json = [&] { return nlohmann::json::parse(to_json(statistics.snapshot(), {})); };
    EXPECT_FALSE(json().contains("decode"));
    const auto monitor = std::make_shared<DecodeMonitor>();
    statistics.set_decode_monitor(monitor);
    EXPECT_FALSE(json().contains("decode"));
    monitor->set({Backend::cuda, {}});
    EXPECT_EQ(json()["decode"], "cuda");
    EXPECT_FALSE(json().contains("decode_reason"));
    monitor->set({Backend::cpu, "the file is damaged"});
    EXPECT_EQ(json()["decode"], "cpu");
    EXPECT_EQ(json()["decode_reason"], "the file is damaged");
}

TEST(Statistics, JsonContainsFilterResults) {
    RunDescription run{.source = "a", .backend = "cpu", .size = {1, 20, 30, 3}};
    run.filters = {{"binarize", {{"threshold", 0, 113}}}, {"mosaic", {{"mean_b", 0, 1.5}, {"mean_g", 0, 2}}}};
    const auto json = nlohmann::json::parse(to_json(Statistics{}.snapshot(), run));
    EXPECT_EQ(json["filters"], nlohmann::json::parse(R"([{"filter": "binarize", "threshold": 113.0},
                                                         {"filter": "mosaic", "mean_b": 1.5, "mean_g": 2.0}])"));
}

TEST(Statistics, CanBeReadWhileBeingWritten) {
    Statistics statistics;
    {
        std::vector<std::jthread> writers;
        for (int writer = 0; writer < 3; ++writer)
            writers.emplace_back([&] {
                for (int i = 0; i < 2000; ++i) {
                    statistics.record(Stage::read, 1);
                    statistics.count_frame(1);
                }
            });
        for (int i = 0; i < 200; ++i) {
            const auto figures = statistics.snapshot();
            EXPECT_EQ(figures.frames, figures.raw_bytes);
        }
    }
    EXPECT_EQ(statistics.snapshot().frames, 6000);
}

}  // namespace
}  // namespace framewire
