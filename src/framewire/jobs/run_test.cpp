#include "framewire/jobs/run.hpp"
#include "framewire/jobs/job_testing_testing.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace framewire::jobs {
namespace {

using namespace std::chrono_literals;

class Run : public JobTest {
protected:
    // Returns the result for a clip filtered by `filters`, and the result with an additional filter that changes
    // nothing but forces whole images instead of rows.
    auto both_ways(const std::string& clip, const std::string& filters) {
        const auto made = [&](const std::string& of_filters) {
            auto options = job();
            options.replace = true;
            const auto path = folder_ / "made.y4m";
            RunJob({.job = options, .input = {.source = clip, .filters = of_filters}, .output = path}).run();
            return read_file(path);
        };
        return std::pair(made(filters), made(filters + ",convolve='0 0 0 0 1 0 0 0 0'"));
    }
};

FRAMEWIRE_ON_EVERY_BACKEND(Run);

TEST_P(Run, SendsEveryFrame) {
    RunJob run({.job = job(), .input = {.source = camera()}, .output = folder_ / "out.bgr"});
    const auto& result = run.run();
    EXPECT_TRUE(raw_frames(folder_ / "out.bgr") == camera_frames());
    EXPECT_EQ(result.ending, Ending::complete);
    EXPECT_EQ(result.figures.frames, frames);
    EXPECT_EQ(result.figures.sent_bytes, static_cast<std::int64_t>(frames * frame_bytes));
    EXPECT_EQ(result.description.source, camera());
    EXPECT_EQ(result.description.backend, to_string(GetParam()));
    EXPECT_EQ(result.description.size.width, width);
    EXPECT_EQ(run.statistics().snapshot().frames, frames);
}

// A difference stream that is recorded again stays within its own threshold. A requested threshold is added to it.
TEST_P(Run, ReencodingADeltaStreamAddsNoError) {
    const auto convert = [&](const std::string& from, const std::string& to) {
        RunJob({.job = job(), .input = {.source = from}, .output = to}).run();
    };
    const auto first = folder_ / "a.fwd", copy = folder_ / "b.fwd", coarser = folder_ / "c.fwd";
    for (const std::string keys : {":threshold=6", ":mode=bounded:threshold=6"}) {
        SCOPED_TRACE(keys);
        for (const auto& path : {first, copy, coarser}) std::filesystem::remove(path);
        convert(camera(), first + keys);
        convert(first, copy);
        convert(copy, coarser + ":threshold=20");
        const auto once = read_video(first), twice = read_video(copy), far = read_video(coarser);
        EXPECT_EQ(once.info.threshold, 6);
        EXPECT_EQ(twice.info.threshold, 6);
        EXPECT_EQ(far.info.threshold, 26);
        EXPECT_TRUE(twice.frames == once.frames);
        EXPECT_FALSE(far.frames == once.frames);
    }
}

TEST_P(Run, AppliesFilters) {
    RunJob({.job = job(), .input = {.source = camera(), .filters = "gray=channels=1"}, .output = folder_ / "out.gray"})
        .run();
    EXPECT_EQ(read_file(folder_ / "out.gray").size(), std::size_t{frames} * width * height);
}

#ifdef FRAMEWIRE_FFMPEG
// Returns the bytes of a 4:2:0 y4m file from the first frame's luma on.
Bytes first_picture(const std::string& path, int width, int height) {
    const auto bytes = read_file(path);
    constexpr std::string_view begin = "FRAME\n";
    const auto at = std::search(bytes.begin(), bytes.end(), begin.begin(), begin.end());
    if (bytes.end() - at < 6 + width * height * 3 / 2) return {};
    return {at + 6, at + 6 + width * height * 3 / 2};
}

// On every backend, text changes only the pixels that it covers; all others stay as decoded.
TEST_P(Run, TextLeavesUncoveredPixelsUnchanged) {
    const auto clip = folder_ / "clip.mp4", plain = folder_ / "plain.y4m", drawn = folder_ / "drawn.y4m";
    RunJob({.job = job(), .input = {.source = camera()}, .output = clip}).run();
    RunJob({.job = job(), .input = {.source = clip}, .output = plain}).run();
    RunJob(
        {.job = job(), .input = {.source = clip, .filters = "text=abc:x=20:y=30:size=24:box=black"}, .output = drawn})
        .run();
    const auto before = first_picture(plain, width, height), after = first_picture(drawn, width, height);
    ASSERT_EQ(before.size(), std::size_t{width} * height * 3 / 2);
    ASSERT_EQ(after.size(), before.size());
    int changed = 0;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            const auto at = static_cast<std::size_t>(y * width + x);
            if (x >= 10 && x < 90 && y >= 20 && y < 70)
                changed += before[at] != after[at];
            else
                ASSERT_EQ(before[at], after[at]) << x << ',' << y;
        }
    EXPECT_GT(changed, 500);
}

// Chains run on planes if possible, row by row on the CPU. An appended identity convolve forces BGR images.
TEST_P(Run, FiltersOnPlanesMatchFiltersOnImages) {
    const auto clip = folder_ / "clip.mp4";
    RunJob({.job = job(), .input = {.source = camera()}, .output = clip}).run();
    for (const std::string filters : {"gray", "adjust=saturation=3", "binarize=fixed", "flip,gray", "scale=50%,gray",
                                      "deinterlace=blend", "fps=6,gray"}) {
        const auto [planes, images] = both_ways(clip, filters);
        EXPECT_TRUE(planes == images) << filters;
        EXPECT_FALSE(planes.empty());
    }
}

// On all backends, filters that only move pixels or scale work directly on the planes: luma is treated as a gray image,
// and chroma is sampled at its own positions.
TEST_P(Run, GeometryFiltersRunOnPlanes) {
    const auto clip = folder_ / "clip.mp4";
    RunJob({.job = job(), .input = {.source = camera()}, .output = clip}).run();
    for (const std::string filters : {"flip", "rotate=90", "scale=50%", "scale=50%,rotate=270"}) {
        SCOPED_TRACE(filters);
        const auto [planes, images] = both_ways(clip, filters);
        ASSERT_EQ(planes.size(), images.size());
        double difference = 0;
        for (std::size_t at = 0; at < planes.size(); ++at)
            difference += std::abs(static_cast<unsigned char>(planes[at]) - static_cast<unsigned char>(images[at]));
        EXPECT_LT(difference / static_cast<double>(planes.size()), 1.5);
        EXPECT_GT(difference, 0) << "the way over images was gone";
    }
}
#endif

TEST_P(Run, StopsAtTheFrameLimit) {
    auto options = job();
    options.frames = 3;
    RunJob({.job = options, .input = {.source = endless_camera()}, .output = folder_ / "out.bgr"}).run();
    auto expected = camera_frames();
    expected.resize(3);
    EXPECT_TRUE(raw_frames(folder_ / "out.bgr") == expected);
}

TEST_P(Run, TimesFramesByTheRequestedRate) {
    RunJob({.job = job(), .input = {.source = camera(), .fps = 5}, .output = folder_ / "out.y4m"}).run();
    const auto reading = read_video(folder_ / "out.y4m");
    EXPECT_EQ(reading.info.rate.value(), 5);
}

TEST_P(Run, TruncatesOutputsAfterAFailure) {
    RunJob run({.job = job(), .input = {.source = broken_source(4)}, .output = folder_ / "out.bgr"});
    EXPECT_EQ(error_of([&] { run.run(); }), ErrorCode::source_lost);
    EXPECT_EQ(run.result().ending, Ending::broken_off);
    EXPECT_EQ(run.result().figures.frames, 4);
    auto expected = camera_frames();
    expected.resize(4);
    EXPECT_TRUE(raw_frames(folder_ / "out.bgr") == expected) << "what came before it";
    EXPECT_EQ(error_of([&] { run.run(); }), ErrorCode::internal) << "a job can run only once";
}

TEST_P(Run, KeepsTheOldFileAfterAFailure) {
    write_file(folder_ / "out.bgr", "finished");
    auto options = job();
    options.replace = true;
    RunJob run({.job = options, .input = {.source = broken_source(4)}, .output = folder_ / "out.bgr"});
    EXPECT_EQ(error_of([&] { run.run(); }), ErrorCode::source_lost);
    EXPECT_EQ(read_file(folder_ / "out.bgr").size(), std::string("finished").size());
    EXPECT_EQ(raw_frames(folder_ / "out.bgr.part").size(), 4u);
}

TEST_P(Run, WritesStatisticsAfterAFailure) {
    auto options = job();
    options.statistics_path = folder_ / "stats.json";
    RunJob run({.job = options, .input = {.source = broken_source(4)}, .output = folder_ / "out.bgr"});
    EXPECT_EQ(error_of([&] { run.run(); }), ErrorCode::source_lost);
    const auto bytes = read_file(folder_ / "stats.json");
    EXPECT_NE(std::string(bytes.begin(), bytes.end()).find("\"frames\": 4"), std::string::npos);
}

TEST_P(Run, StopsOnRequest) {
    std::stop_source stop;
    auto options = job();
    options.stop = stop.get_token();
    RunJob run({.job = options, .input = {.source = endless_camera()}, .output = folder_ / "out.bgr"});
    const std::jthread stopping([&] {
        while (run.statistics().snapshot().frames < 3) std::this_thread::sleep_for(1ms);
        stop.request_stop();
    });
    const auto& result = run.run();
    EXPECT_EQ(result.ending, Ending::broken_off);
    EXPECT_GE(result.figures.frames, 3);
    EXPECT_EQ(static_cast<std::int64_t>(raw_frames(folder_ / "out.bgr").size()), result.figures.frames);
}

TEST_P(Run, DoesNotTriggerTheCallersStopOnFailure) {
    std::stop_source stop;
    auto options = job();
    options.stop = stop.get_token();
    RunJob run({.job = options, .input = {.source = broken_source(1)}, .output = folder_ / "out.bgr"});
    EXPECT_EQ(error_of([&] { run.run(); }), ErrorCode::source_lost);
    EXPECT_FALSE(stop.stop_requested());
}

TEST_P(Run, KeepsTheSourceRateOnRequest) {
    const auto took_ms = [&](Pace pace, double fps, const std::string& output) {
        auto options = job();
        options.replace = true;
        const auto begin = Clock::now();
        RunJob({.job = options,
                .input = {.source = fmt::format("synth:size={}x{}:fps=20:frames=12", width, height), .fps = fps},
                .output = output,
                .pace = pace})
            .run();
        return milliseconds_since(begin);
    };
    const std::string file = folder_ / "out.bgr";
    EXPECT_GE(took_ms(Pace::own, 0, file), 11 * 50 - 5);
    EXPECT_GE(took_ms(Pace::own, 10, file), 11 * 100 - 5);
    EXPECT_LT(took_ms(Pace::hurried, 0.1, file), 10'000) << "or it waits for two minutes";
    EXPECT_LT(took_ms(Pace::by_output, 0.1, file), 10'000) << "a file is no stream";
    EXPECT_LT(took_ms(Pace::by_output, 0.1, literal_sink(file)), 10'000) << "nor is one that is named exactly";
}

TEST_P(Run, ProcessesATimeRange) {
    RunJob run({.job = job(),
                .input = {.source = camera(), .start_seconds = 1, .duration_seconds = 1.5},
                .output = folder_ / "out.bgr"});
    // frames 3 to 7 at 3 frames/s
    EXPECT_EQ(run.run().figures.frames, 5);
    const auto all = camera_frames();
    EXPECT_EQ(raw_frames(folder_ / "out.bgr"), std::vector<Bytes>(all.begin() + 3, all.begin() + 8));
}

TEST_P(Run, RejectsASourceWithoutFrames) {
    write_file(folder_ / "empty.bgr", "");
    const auto source = fmt::format("raw:{}:size=64x48", folder_ / "empty.bgr");
    EXPECT_EQ(
        error_of([&] { RunJob({.job = job(), .input = {.source = source}, .output = folder_ / "out.bgr"}).run(); }),
        ErrorCode::no_input);
    EXPECT_EQ(folder_.names(), std::vector<std::string>{"empty.bgr"});
}

TEST_P(Run, RejectsAnOutputThatIsAnInput) {
    const auto source = broken_source(2);
    auto options = job();
    options.replace = true;
    const auto before = read_file(folder_ / "broken.bgr");
    EXPECT_EQ(
        error_of([&] { RunJob({.job = options, .input = {.source = source}, .output = folder_ / "broken.bgr"}); }),
        ErrorCode::usage);
    EXPECT_EQ(read_file(folder_ / "broken.bgr"), before);
}

}  // namespace
}  // namespace framewire::jobs
