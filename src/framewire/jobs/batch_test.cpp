#include "framewire/jobs/batch.hpp"
#include "framewire/jobs/detect.hpp"
#include "framewire/jobs/hog.hpp"
#include "framewire/jobs/job_testing_testing.hpp"
#include "framewire/jobs/run.hpp"
#include "framewire/media/sinks.hpp"

#include "kit/captured_log.hpp"
#include "kit/eventually.hpp"

#include <nlohmann/json.hpp>

#include <barrier>
#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

namespace framewire::jobs {
namespace {

using End = ItemOutcome::End;

class Batch : public JobTest {
protected:
    // Returns an item that converts a clip of `length` frames to NAME.bgr.
    BatchItem item(const std::string& name, int length) {
        const auto clip = folder_ / (name + ".y4m");
        RunJob(
            {.job = job(), .input = {.source = endless_camera() + fmt::format(":frames={}", length)}, .output = clip})
            .run();
        const RunOptions options{.job = job(), .input = {.source = clip}, .output = folder_ / ("out/" + name + ".bgr")};
        return {clip, name + ".bgr", files_of(options), "-o", item_work<RunJob>(options)};
    }
    BatchOptions options(int jobs) const {
        return {.job = job(), .folder = folder_ / "out", .version = "1", .jobs = jobs};
    }
};

FRAMEWIRE_ON_EVERY_BACKEND(Batch);

TEST_P(Batch, SkipsFinishedItemsInASecondRun) {
    const std::vector<BatchItem> items{item("a", 3), item("b", 1), item("c", 2)};
    BatchJob first(options(2), items);
    EXPECT_EQ(first.run(InTheWay::refuse).count(End::made), 3);
    BatchJob second(options(2), items);
    const auto& result = second.run(InTheWay::refuse);
    EXPECT_EQ(result.count(End::was_done), 3);
    EXPECT_EQ(result.frames, 0);
    EXPECT_EQ(raw_frames(folder_ / "out/a.bgr").size(), 3u);
    EXPECT_EQ(raw_frames(folder_ / "out/c.bgr").size(), 2u);
}

TEST_P(Batch, ContinuesAfterAFailedItem) {
    const std::vector<BatchItem> items{item("a", 3), item("b", 3), item("c", 2)};
    std::filesystem::resize_file(folder_ / "b.y4m", frame_bytes * 2);
    BatchJob batch(options(1), items);
    const auto& result = batch.run(InTheWay::refuse);
    EXPECT_EQ(result.count(End::made), 2);
    ASSERT_EQ(result.failures().size(), 1u);
    EXPECT_EQ(result.failures().front()->code, ErrorCode::source_lost);
    EXPECT_EQ(result.failures().front()->input, folder_ / "b.y4m");
    EXPECT_FALSE(std::filesystem::exists(folder_ / "out/b.bgr"));
    EXPECT_GE(raw_frames(folder_ / "out/b.bgr.part").size(), 1u);
    const auto json = nlohmann::json::parse(to_json(result, {}));
    EXPECT_EQ(json["made"], 2);
    EXPECT_EQ(json["failures"][0]["code"], 69);
}

TEST_P(Batch, ItemsInProgressUseDifferentProcessors) {
    const auto one = item("a", 3), other = item("b", 3);
    auto asked = options(2);
    BatchJob(asked, {one, other}).run(InTheWay::refuse);
    const auto a = read_file(folder_ / "out/a.bgr"), b = read_file(folder_ / "out/b.bgr");
    std::filesystem::remove_all(folder_ / "out");

    asked.job.gpus = std::make_shared<GpuFleet>(two_processors(GetParam()));
    std::barrier both(2);
    const auto together = [&](BatchItem each) {
        each.work = [&, work = each.work](const JobOptions& job, const ItemWatch& watch) {
            both.arrive_and_wait();
            EXPECT_EQ(asked.job.gpus->loads(), (std::vector<double>(2, GpuFleet::usual_load)));
            both.arrive_and_wait();
            auto result = work(job, watch);
            if (GetParam() == Backend::cuda) {
                EXPECT_EQ(result.figures.gpu, job.gpu->processor().gpu);
            }
            return result;
        };
        return each;
    };
    BatchJob batch(asked, {together(one), together(other)});
    EXPECT_EQ(batch.run(InTheWay::refuse).count(End::made), 2);
    EXPECT_EQ(read_file(folder_ / "out/a.bgr"), a);
    EXPECT_EQ(read_file(folder_ / "out/b.bgr"), b);
    EXPECT_EQ(asked.job.gpus->loads(), (std::vector<double>(2, 0)));
}

TEST_P(Batch, ItemsOfAFailedProcessorAreProcessedAgain) {
    auto paced = item("a", 40);
    paced.work = item_work<RunJob>(RunOptions{.job = job(),
                                              .input = {.source = folder_ / "a.y4m", .fps = 100},
                                              .output = folder_ / "out/a.bgr",
                                              .pace = Pace::own});
    auto asked = options(1);
    BatchJob(asked, {paced}).run(InTheWay::refuse);
    const auto whole = read_file(folder_ / "out/a.bgr");
    std::filesystem::remove_all(folder_ / "out");

    auto fleet = std::make_shared<GpuFleet>(two_processors(GetParam()));
    asked.job.gpus = fleet;
    int attempts = 0;
    std::jthread breaker;
    paced.work = [&, work = paced.work](const JobOptions& job, const ItemWatch& watch) {
        const auto began = [&](const Statistics& statistics) {
            watch.began(statistics);
            if (++attempts > 1) return;
            breaker = std::jthread([&] {
                EXPECT_TRUE(kit::eventually([&] { return statistics.snapshot().frames >= 5; }));
                fleet->mark_failed(0, "a test asks for it");
            });
        };
        const auto ended = [&](const Statistics& statistics) {
            if (breaker.joinable()) breaker.join();
            watch.ended(statistics);
        };
        return work(job, {began, ended});
    };
    const kit::CapturedLog log;
    BatchJob batch(asked, {paced});
    const auto& result = batch.run(InTheWay::refuse);
    EXPECT_EQ(result.count(End::made), 1);
    EXPECT_EQ(attempts, 2);
    EXPECT_EQ(read_file(folder_ / "out/a.bgr"), whole);
    EXPECT_FALSE(std::filesystem::exists(folder_ / "out/a.bgr.part"));
    EXPECT_NE(log.text().find("has failed; processing it again on another GPU"), std::string::npos) << log.text();

    // No processor is left.
    std::filesystem::remove_all(folder_ / "out");
    fleet->mark_failed(1, "a test asks for it");
    BatchJob last(asked, {paced});
    EXPECT_EQ(last.run(InTheWay::refuse).failures().front()->code, ErrorCode::config);
}

TEST_P(Batch, StopsOnRequest) {
    std::stop_source stop;
    auto stopped = options(1);
    stopped.job.stop = stop.get_token();
    stop.request_stop();
    BatchJob batch(stopped, {item("a", 3)});
    EXPECT_EQ(batch.run(InTheWay::refuse).count(End::stopped), 1);
    EXPECT_FALSE(std::filesystem::exists(folder_ / "out/a.bgr"));
}

TEST_P(Batch, RejectsItemsWithTheSameOutput) {
    const auto one = item("a", 1);
    EXPECT_EQ(error_of([&] { BatchJob(options(1), {one, one}); }), ErrorCode::usage);
    EXPECT_EQ(error_of([&] { BatchJob(options(0), {one}); }), ErrorCode::usage);
    EXPECT_EQ(error_of([&] { BatchJob(options(BatchOptions::most_jobs + 1), {one}); }), ErrorCode::usage);
}

TEST(BatchProgress, IsMeasuredInBytesOfRemainingInputs) {
    const BatchStatistics figures{
        .files = 40, .ended = 12, .failed = 1, .frames = 600, .seconds = 20, .bytes = 1000, .ended_bytes = 250};
    EXPECT_EQ(batch_bar(figures, 80),
              "[====              ] 12/40 files  1 failed  600 frames  30.0 fps  1:00 left  25%");
    const auto json = nlohmann::json::parse(batch_json(figures));
    EXPECT_EQ(json["files"], 40);
    EXPECT_EQ(json["ended"], 12);
    EXPECT_EQ(json["failed"], 1);
    EXPECT_EQ(json["seconds_left"], 60);
    for (int columns = 0; columns < 120; ++columns)
        EXPECT_LE(batch_bar(figures, columns).size(), static_cast<std::size_t>(columns));
}

using End = ItemOutcome::End;

class SegmentedVideo : public JobTest {
protected:
    // Returns the synthetic room: 24 frames at 3 frames/s.
    InputOptions room() const { return {.source = endless_camera() + ":frames=24", .filters = "noise"}; }

    // Returns an item that writes the synthetic room as a video in `folder`. `name` is a prefix of the file name, which
    // makes the output files of a time range unique.
    BatchItem item(const std::string& folder, const InputOptions& input, const std::string& name = "") {
        const RunOptions options{.job = job(), .input = input, .output = folder_ / (folder + "/" + name + "room.y4m")};
        return {"room", name + "room.y4m", files_of(options), "-o", item_work<RunJob>(options)};
    }
    CutItem cut(const BatchItem& whole, const InputOptions& input, double seconds) {
        const Cutting cutting{seconds, {}, look_back_of(input.filters, nullptr)};
        return cut_video(whole, input, cutting, true, {},
                         [=, this](const FileSegment& segment, const std::string& name) {
                             auto part = input;
                             part.segment = segment;
                             return item("parts", part, name + "-");
                         });
    }
    std::vector<std::uint8_t> uncut() {
        RunJob({.job = job(), .input = room(), .output = folder_ / "uncut.y4m"}).run();
        return read_file(folder_ / "uncut.y4m");
    }
};

FRAMEWIRE_ON_EVERY_BACKEND(SegmentedVideo);

TEST_P(SegmentedVideo, JoinedSegmentsMatchAnUnsplitRun) {
    for (const auto* folder : {"out", "parts"}) std::filesystem::create_directory(folder_ / folder);
    const auto whole = item("out", room());
    const auto of_room = cut(whole, room(), 2);
    ASSERT_EQ(of_room.parts.size(), 4u);
    EXPECT_EQ(of_room.parts.back().name, "00003-room.y4m");
    for (const auto& part : of_room.parts) {
        const auto ignore = [](const Statistics&) {};
        EXPECT_EQ(part.work(job(), {ignore, ignore}).figures.frames, 6);
    }
    of_room.join(job());
    EXPECT_TRUE(read_file(folder_ / "out/room.y4m") == uncut());
}

TEST_P(SegmentedVideo, RunsAsPartOfABatch) {
    auto whole = item("out", room());
    whole.cut = [=, this] { return cut(whole, room(), 3); };
    const BatchOptions options{.job = job(), .folder = folder_ / "out", .version = "1", .jobs = 2};
    BatchJob batch(options, {whole});
    const auto& result = batch.run(InTheWay::refuse);
    EXPECT_EQ(result.count(End::made, true), 3);
    EXPECT_EQ(result.count(End::made), 1);
    EXPECT_TRUE(read_file(folder_ / "out/room.y4m") == uncut());
    BatchJob again(options, {whole});
    EXPECT_EQ(again.run(InTheWay::refuse).count(End::was_done), 1);
}

TEST_P(SegmentedVideo, IsNotSplitIfFrameTimesAreUnknown) {
    for (const auto& input : {InputOptions{.source = endless_camera()}, room()})
        EXPECT_EQ(cut(item("out", input), input, 60).parts.size(), 1u) << input.source;
}

TEST_P(SegmentedVideo, RejectsOutputsThatCannotBeJoined) {
    const auto refused = [&](const DetectOptions& options) {
        return error_of([&] { require_can_be_joined(files_of(options)); });
    };
    const InputOptions input{.source = "a.mp4"};
    EXPECT_EQ(refused({.input = input, .output = "a.jsonl", .annotate = "a.Y4M", .labels = "a.npy"}), std::nullopt);
    EXPECT_EQ(refused({.input = input, .output = "a.json"}), ErrorCode::usage);
    EXPECT_EQ(refused({.input = input, .output = "a.jsonl", .mask = "a%03d.png"}), ErrorCode::usage);
}

// Returns the times of `frames` frames at 10 frames/s; every fifth frame is a keyframe.
FrameTimes ten_a_second(std::size_t frames) {
    FrameTimes times;
    for (std::size_t frame = 0; frame < frames; ++frame) {
        times.seconds.push_back(static_cast<double>(frame) / 10);
        if (frame % 5 == 0) times.entries.push_back(frame);
    }
    return times;
}

TEST(SegmentRanges, BeginAtKeyframesAndCoverTheSource) {
    const InputOptions input{.source = "a.mp4"};
    const auto segments = segments_of(ten_a_second(43), input, {.seconds = 1.2});
    ASSERT_EQ(segments.size(), 3u);
    std::int64_t next = 0;
    for (std::size_t number = 0; number < segments.size(); ++number) {
        const auto& segment = segments[number];
        EXPECT_EQ(segment.begin_frame, next);
        EXPECT_EQ(segment.begin_frame, static_cast<std::int64_t>(15 * number));
        EXPECT_DOUBLE_EQ(segment.begin_seconds, 1.5 * static_cast<double>(number));
        EXPECT_EQ(segment.end_seconds.has_value(), number < 2);
        EXPECT_EQ(segment.lead_frame, std::max<std::int64_t>(0, next - 1));
        EXPECT_FALSE(segment.first_frame);
        next += segment.frames;
    }
    EXPECT_EQ(next, 43);
    EXPECT_EQ(segments_of(ten_a_second(43), input, {.seconds = 5}).size(), 1u);
    EXPECT_EQ(segments_of({.unknown = "it is live"}, input, {.seconds = 5}).size(), 1u);
    FrameTimes one_key = ten_a_second(43);
    one_key.entries = {0};
    EXPECT_EQ(segments_of(one_key, input, {.seconds = 1}).size(), 1u);
}

TEST(SegmentRanges, StartWithTheFramesThatFiltersNeed) {
    const auto lead_of_last = [](const std::string& filters, std::optional<double> warm_up = {},
                                 const BackgroundModel* background = nullptr) {
        const InputOptions input{.source = "a.mp4", .filters = filters};
        return segments_of(ten_a_second(40), input, {2, warm_up, look_back_of(filters, background)}).back();
    };
    EXPECT_EQ(lead_of_last("gray").lead_frame, 19);
    EXPECT_EQ(lead_of_last("noise").lead_frame, 18);
    EXPECT_EQ(lead_of_last("noise,gray,heatmap,deinterlace").lead_frame, 16);
    EXPECT_EQ(lead_of_last("gray", 0.5).lead_frame, 15);
    EXPECT_EQ(lead_of_last("gray", 60).lead_frame, 0);
    // At 2.5 frames/s, frames 18 to 21 are closest to output frame 5, and frames 14 to 17 to output frame 4.
    EXPECT_EQ(lead_of_last("fps=2.5").lead_frame, 19);
    EXPECT_EQ(lead_of_last("fps=2.5,noise").lead_frame, 16);
    EXPECT_EQ(lead_of_last("noise,fps=2.5,noise").lead_frame, 15);
    const BackgroundModel first = FirstFrame{}, mean = RunningMean{};
    EXPECT_TRUE(lead_of_last("gray", {}, &first).first_frame);
    EXPECT_TRUE(lead_of_last("boxes=background=first").first_frame);
    EXPECT_FALSE(lead_of_last("boxes=background=first", 60).first_frame) << "it is there already";
    EXPECT_EQ(look_back_of("gray", &mean).learns, "mean");
    EXPECT_EQ(look_back_of("gray,boxes", nullptr).learns, "adaptive");
    EXPECT_EQ(look_back_of("gray", nullptr).learns, "");
}

TEST(SegmentRanges, RequireAWarmUpForLearningBackgrounds) {
    const auto refused = [](const InputOptions& input, const Cutting& cutting) {
        return testing::error_of([&] { require_can_be_cut(input, cutting); });
    };
    const auto learns = look_back_of("boxes", nullptr);
    EXPECT_EQ(refused({.source = "a"}, {.seconds = 2, .look_back = learns}), ErrorCode::usage);
    EXPECT_EQ(refused({.source = "a"}, {2, 1.0, learns}), std::nullopt);
    EXPECT_EQ(refused({.source = "a", .start_seconds = 1}, {.seconds = 2}), ErrorCode::usage);
    EXPECT_EQ(refused({.source = "a", .duration_seconds = 1}, {.seconds = 2}), ErrorCode::usage);
}

class SegmentedJobs : public JobTest {
protected:
    // Returns a synthetic camera with 24 frames at 3 frames/s.
    static std::string room() { return endless_camera() + ":frames=24"; }

    // Runs a job on time ranges of 2 s and joins its outputs to `name`.
    template <class AnyJob, class Options>
    void run_in_segments(Options options, const std::string& name) {
        const Cutting cutting{2, {}, look_back_of(options.input.filters, nullptr)};
        std::vector<FilePart> parts;
        for (const auto& segment : segments_of(frame_times_of(room(), {}), options.input, cutting)) {
            options.input.segment = segment;
            options.output = folder_ / fmt::format("{}-{}", parts.size(), name);
            AnyJob job(options);
            EXPECT_LE(job.run().figures.frames, 12);
            parts.push_back({options.output});
        }
        EXPECT_EQ(parts.size(), 4u);
        join_files(parts, folder_ / name, {});
    }
};

FRAMEWIRE_ON_EVERY_BACKEND(SegmentedJobs);

TEST_P(SegmentedJobs, MatchAnUnsplitJob) {
    for (const char* filters :
         {"gaussian=5,noise=threshold=4", "noise,fps=5,heatmap", "boxes=background=first:min-area=4"}) {
        RunOptions options{.job = job(), .input = {.source = room(), .filters = filters}};
        options.job.replace = true;
        for (const std::string name : {"out.bgr", "out.y4m"}) {
            auto uncut = options;
            uncut.output = folder_ / ("uncut-" + name);
            RunJob(uncut).run();
            run_in_segments<RunJob>(options, name);
            EXPECT_TRUE(read_file(folder_ / name) == read_file(uncut.output)) << filters << " " << name;
            std::filesystem::remove(folder_ / name);
        }
    }
}

TEST_P(SegmentedJobs, DescriptorsMatchAnUnsplitJob) {
    DescribeOptions options{.job = job(), .input = {.source = room(), .one_size = true}};
    run_in_segments<DescribeJob>(options, "out.npy");
    options.output = folder_ / "uncut.npy";
    DescribeJob(options).run();
    EXPECT_TRUE(read_file(folder_ / "out.npy") == read_file(folder_ / "uncut.npy"));
}

TEST_P(SegmentedJobs, RejectASourceThatDiffersFromThePlan) {
    const auto failure = [&](const FileSegment& segment) {
        const auto out = folder_ / "out.bgr";
        auto options = job();
        options.replace = true;
        return error_of(
            [&] { RunJob({.job = options, .input = {.source = room(), .segment = segment}, .output = out}).run(); });
    };
    const FileSegment right{2, 6, 6, 4.0, 5.0 / 3, 5};
    EXPECT_EQ(failure(right), std::nullopt);
    auto wrong = right;
    wrong.frames = 7;
    EXPECT_EQ(failure(wrong), ErrorCode::config);
    wrong = right;
    wrong.begin_frame = 7;
    EXPECT_EQ(failure(wrong), ErrorCode::config);
    EXPECT_EQ(failure({6, 18, 7, std::nullopt, 17.0 / 3, 17}), ErrorCode::config);
}

}  // namespace
}  // namespace framewire::jobs
