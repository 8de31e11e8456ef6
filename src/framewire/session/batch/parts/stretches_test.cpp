#include "framewire/session/batch/parts/stretches.hpp"

#include "framewire/media/sinks/pieces/joined_file.hpp"
#include "framewire/session/hog/describe.hpp"
#include "framewire/session/job_testing.hpp"
#include "framewire/session/run.hpp"

namespace framewire::session {
namespace stretches_test {

// Returns the times of this many frames at 10 frames/s; every fifth is a key frame.
FrameTimes ten_a_second(std::size_t frames) {
    FrameTimes times;
    for (std::size_t frame = 0; frame < frames; ++frame) {
        times.seconds.push_back(static_cast<double>(frame) / 10);
        if (frame % 5 == 0) times.entries.push_back(frame);
    }
    return times;
}

TEST(Stretches, BeginWithKeyFramesAndCoverTheSource) {
    const InputOptions input{.source = "a.mp4"};
    const auto stretches = stretches_of(ten_a_second(43), input, {.seconds = 1.2});
    ASSERT_EQ(stretches.size(), 3u);
    std::int64_t next = 0;
    for (std::size_t number = 0; number < stretches.size(); ++number) {
        const auto& stretch = stretches[number];
        EXPECT_EQ(stretch.begin_frame, next);
        EXPECT_EQ(stretch.begin_frame, static_cast<std::int64_t>(15 * number));
        EXPECT_DOUBLE_EQ(stretch.begin_seconds, 1.5 * static_cast<double>(number));
        EXPECT_EQ(stretch.end_seconds.has_value(), number < 2);
        EXPECT_EQ(stretch.lead_frame, std::max<std::int64_t>(0, next - 1));
        EXPECT_FALSE(stretch.first_frame);
        next += stretch.frames;
    }
    EXPECT_EQ(next, 43);
    EXPECT_EQ(stretches_of(ten_a_second(43), input, {.seconds = 5}).size(), 1u);
    EXPECT_EQ(stretches_of({.unknown = "it is live"}, input, {.seconds = 5}).size(), 1u);
    FrameTimes one_key = ten_a_second(43);
    one_key.entries = {0};
    EXPECT_EQ(stretches_of(one_key, input, {.seconds = 1}).size(), 1u);
}

TEST(Stretches, StartWithTheFramesThatFiltersNeed) {
    const auto lead_of_last = [](const std::string& filters, std::optional<double> warm_up = {},
                                 const BackgroundModel* background = nullptr) {
        const InputOptions input{.source = "a.mp4", .filters = filters};
        return stretches_of(ten_a_second(40), input, {2, warm_up, look_back_of(filters, background)}).back();
    };
    EXPECT_EQ(lead_of_last("gray").lead_frame, 19);
    EXPECT_EQ(lead_of_last("noise").lead_frame, 18);
    EXPECT_EQ(lead_of_last("noise,gray,heatmap,deinterlace").lead_frame, 16);
    EXPECT_EQ(lead_of_last("gray", 0.5).lead_frame, 15);
    EXPECT_EQ(lead_of_last("gray", 60).lead_frame, 0);
    // At 2.5 frames/s, frames 18 to 21 are nearest to number 5, and frames 14 to 17 to number 4.
    EXPECT_EQ(lead_of_last("fps=2.5").lead_frame, 19);
    EXPECT_EQ(lead_of_last("fps=2.5,noise").lead_frame, 16);
    EXPECT_EQ(lead_of_last("noise,fps=2.5,noise").lead_frame, 15);
    const BackgroundModel first = FirstFrame{}, mean = RunningMean{};
    EXPECT_TRUE(lead_of_last("gray", {}, &first).first_frame);
    EXPECT_TRUE(lead_of_last("boxes=background=first").first_frame);
    EXPECT_FALSE(lead_of_last("boxes=background=first", 60).first_frame) << "it is there already";
    EXPECT_EQ(look_back_of("gray", &mean).learns, "mean");
    EXPECT_EQ(look_back_of("gray,boxes", nullptr).learns, "mixture");
    EXPECT_EQ(look_back_of("gray", nullptr).learns, "");
}

TEST(Stretches, NeedAWarmUpForLearningBackgrounds) {
    const auto refused = [](const InputOptions& input, const Cutting& cutting) {
        return testing::error_of([&] { require_can_be_cut(input, cutting); });
    };
    const auto learns = look_back_of("boxes", nullptr);
    EXPECT_EQ(refused({.source = "a"}, {.seconds = 2, .look_back = learns}), ErrorCode::usage);
    EXPECT_EQ(refused({.source = "a"}, {2, 1.0, learns}), std::nullopt);
    EXPECT_EQ(refused({.source = "a", .start_seconds = 1}, {.seconds = 2}), ErrorCode::usage);
    EXPECT_EQ(refused({.source = "a", .duration_seconds = 1}, {.seconds = 2}), ErrorCode::usage);
}

class CutJobs : public JobTest {
protected:
    // 24 frames at 3 frames/s.
    static std::string room() { return endless_camera() + ":frames=24"; }

    // Runs a job on time ranges of 2 s and joins its outputs to `name`.
    template <class AnyJob, class Options>
    void run_in_stretches(Options options, const std::string& name) {
        const Cutting cutting{2, {}, look_back_of(options.input.filters, nullptr)};
        std::vector<FilePart> parts;
        for (const auto& stretch : stretches_of(frame_times_of(room(), {}), options.input, cutting)) {
            options.input.stretch = stretch;
            options.output = folder_ / fmt::format("{}-{}", parts.size(), name);
            AnyJob job(options);
            EXPECT_LE(job.run().figures.frames, 12);
            parts.push_back({options.output});
        }
        EXPECT_EQ(parts.size(), 4u);
        join_files(parts, folder_ / name, {});
    }
};

FRAMEWIRE_ON_EVERY_BACKEND(CutJobs);

TEST_P(CutJobs, EqualAnUncutJob) {
    for (const char* filters :
         {"gaussian=5,noise=threshold=4", "noise,fps=5,heatmap", "boxes=background=first:min-area=4"}) {
        RunOptions options{.job = job(), .input = {.source = room(), .filters = filters}};
        options.job.replace = true;
        for (const std::string name : {"out.bgr", "out.y4m"}) {
            auto uncut = options;
            uncut.output = folder_ / ("uncut-" + name);
            RunJob(uncut).run();
            run_in_stretches<RunJob>(options, name);
            EXPECT_TRUE(read_file(folder_ / name) == read_file(uncut.output)) << filters << " " << name;
            std::filesystem::remove(folder_ / name);
        }
    }
}

TEST_P(CutJobs, ComputeTheDescriptorsOfAnUncutJob) {
    DescribeOptions options{.job = job(), .input = {.source = room(), .one_size = true}};
    run_in_stretches<DescribeJob>(options, "out.npy");
    options.output = folder_ / "uncut.npy";
    DescribeJob(options).run();
    EXPECT_TRUE(read_file(folder_ / "out.npy") == read_file(folder_ / "uncut.npy"));
}

TEST_P(CutJobs, RejectASourceThatDiffersFromThePlan) {
    const auto failure = [&](const Stretch& stretch) {
        const auto out = folder_ / "out.bgr";
        auto options = job();
        options.replace = true;
        return error_of(
            [&] { RunJob({.job = options, .input = {.source = room(), .stretch = stretch}, .output = out}).run(); });
    };
    const Stretch right{2, 6, 6, 4.0, 5.0 / 3, 5};
    EXPECT_EQ(failure(right), std::nullopt);
    auto wrong = right;
    wrong.frames = 7;
    EXPECT_EQ(failure(wrong), ErrorCode::config);
    wrong = right;
    wrong.begin_frame = 7;
    EXPECT_EQ(failure(wrong), ErrorCode::config);
    EXPECT_EQ(failure({6, 18, 7, std::nullopt, 17.0 / 3, 17}), ErrorCode::config);
}

}  // namespace stretches_test
}  // namespace framewire::session
