#include "framewire/jobs/input/input.hpp"
#include "framewire/core/error.hpp"
#include "framewire/jobs/explain.hpp"
#include "framewire/jobs/job_testing_testing.hpp"
#include "framewire/jobs/run.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace framewire::jobs {
namespace {

TEST(PublicName, OmitsFoldersUsersAndQueries) {
    EXPECT_EQ(public_name("/home/me/private/clip.mkv"), "clip.mkv");
    EXPECT_EQ(public_name("clip.mkv"), "clip.mkv");
    EXPECT_EQ(public_name("rtsp://me:secret@camera.local/stream?token=1"), "rtsp://camera.local/stream");
    EXPECT_EQ(public_name("http://camera.local/stream"), "http://camera.local/stream");
}

TEST(Explanations, NameChangesOfTheRate) {
    RunOptions options;
    options.job.backend = BackendChoice::cpu;
    options.input.source = "synth:size=64x48:frames=2";
    options.input.filters = "gray, fps=5 ,flip";
    std::vector<std::string> steps;
    for (const auto& step : explain(options).steps) steps.push_back(step.operation + " [" + step.format + "]");
    EXPECT_EQ(steps, (std::vector<std::string>{"gray [BGR]", "fps=5 [BGR]", "flip [BGR]"}));
}

constexpr Shape shape{1, 1, 1, 1};

// Source whose frames have the given times and contain one byte, their number. It then ends or fails.
class Frames {
public:
    explicit Frames(std::vector<double> times, bool breaks = false) : times_(std::move(times)), breaks_(breaks) {}

    FrameResampler::Read read() {
        return [this](FrameResampler::Picture& picture) {
            if (next_ == times_.size() && breaks_) fail(ErrorCode::source_lost, "broken");
            if (next_ == times_.size()) return false;
            picture.image.view().data()[0] = static_cast<std::uint8_t>(next_);
            picture.time = {static_cast<std::int64_t>(next_), times_[next_], {}};
            ++next_;
            return true;
        };
    }

private:
    std::vector<double> times_;
    bool breaks_;
    std::size_t next_ = 0;
};

struct Seen {
    // number of the frame in the source
    int frame;
    std::int64_t number;
    double seconds;
    bool at_rate;
    friend bool operator==(const Seen&, const Seen&) = default;
};
void PrintTo(const Seen& seen, std::ostream* out) {
    *out << seen.frame << " as " << seen.number << " at " << seen.seconds << (seen.at_rate ? "" : " left out");
}

std::vector<Seen> all_of(FrameResampler& resampler) {
    std::vector<Seen> all;
    HostImage image(shape);
    FrameTime time;
    FrameResampler::Given given;
    while (resampler.capture(image.view(), time, given)) {
        EXPECT_EQ(given.reading, image.view().data()[0] + 1);
        all.push_back({image.view().data()[0], time.index, time.seconds, given.at_rate});
    }
    return all;
}

TEST(FrameResampler, RepeatsAndSkipsFrames) {
    Frames frames({0, 0.1, 0.2, 0.21, 0.5});
    FrameResampler resampler(shape, {10, 1}, {10, 1}, false, frames.read());
    EXPECT_EQ(all_of(resampler), (std::vector<Seen>{{0, 0, 0, true},
                                                    {1, 1, 0.1, true},
                                                    {3, 2, 0.2, true},
                                                    {3, 3, 0.3, true},
                                                    {3, 4, 0.4, true},
                                                    {4, 5, 0.5, true}}));
}

TEST(FrameResampler, ReturnsSkippedFramesOnRequest) {
    Frames frames({0, 0.1, 0.2, 0.3});
    FrameResampler resampler(shape, {10, 1}, {5, 1}, true, frames.read());
    EXPECT_EQ(all_of(resampler),
              (std::vector<Seen>{{0, 0, 0, true}, {1, 1, 0.2, false}, {2, 1, 0.2, true}, {3, 2, 0.4, false}}));
}

TEST(FrameResampler, DeliversTheFramesBeforeAFailure) {
    Frames frames({0, 0.1}, true);
    FrameResampler resampler(shape, {10, 1}, {20, 1}, false, frames.read());
    HostImage image(shape);
    FrameTime time;
    FrameResampler::Given given;
    for (int frame = 0; frame < 4; ++frame) EXPECT_TRUE(resampler.capture(image.view(), time, given));
    EXPECT_THROW(resampler.capture(image.view(), time, given), Error);
}

TEST(FrameResampler, HandlesAnEmptySource) {
    Frames frames({});
    FrameResampler resampler(shape, {10, 1}, {20, 1}, false, frames.read());
    EXPECT_TRUE(all_of(resampler).empty());
}

class Resampling : public JobTest {
protected:
    std::vector<Bytes> run_frames(const std::string& source, const std::string& filters) {
        auto options = job();
        options.replace = true;
        RunJob({.job = options, .input = {.source = source, .filters = filters}, .output = folder_ / "out.bgr"}).run();
        return raw_frames(folder_ / "out.bgr");
    }
};
FRAMEWIRE_ON_EVERY_BACKEND(Resampling);

#ifdef FRAMEWIRE_FFMPEG
// FFmpeg's own filter is the reference.
TEST_P(Resampling, MatchesTheFfmpegFilter) {
    const auto clip = folder_ / "clip.mkv", judged = folder_ / "judged.mkv";
    ASSERT_TRUE(testing::ffmpeg(
        fmt::format("-f lavfi -i testsrc2=size={}x{}:rate=25 -frames:v 40 -c:v ffv1 {}", width, height, clip)));
    for (const auto* rate : {"25", "50", "12.5", "10", "30", "30000/1001", "7"}) {
        ASSERT_TRUE(testing::ffmpeg(fmt::format("-i {} -vf fps={} -c:v ffv1 {}", clip, rate, judged)));
        EXPECT_EQ(run_frames(clip, fmt::format("fps={}", rate)), read_video(judged).frames) << rate;
    }
}
#endif

// Filters before the change of the rate see every frame; those after it see only frames at the new rate.
TEST_P(Resampling, FiltersSeeTheRateAtTheirPositionInTheChain) {
    // 12 frames at 3 frames/s
    const auto source = camera();
    const auto noise = run_frames(source, "noise=2");
    ASSERT_EQ(noise.size(), std::size_t{frames});
    EXPECT_EQ(run_frames(source, "fps=1.5"),
              (std::vector<Bytes>{camera_frames()[0], camera_frames()[2], camera_frames()[4], camera_frames()[6],
                                  camera_frames()[8], camera_frames()[10]}));
    EXPECT_EQ(run_frames(source, "noise=2,fps=1.5"),
              (std::vector<Bytes>{noise[0], noise[2], noise[4], noise[6], noise[8], noise[10]}));
    const auto twice = run_frames(source, "noise=2,fps=6");
    const auto twice_after = run_frames(source, "fps=6,noise=2");
    ASSERT_EQ(twice.size(), std::size_t{2 * frames});
    ASSERT_EQ(twice_after.size(), std::size_t{2 * frames});
    for (std::size_t frame = 0; frame < noise.size(); ++frame) {
        EXPECT_EQ(twice[2 * frame], noise[frame]) << frame;
        EXPECT_EQ(twice[2 * frame + 1], noise[frame]) << frame;
        EXPECT_EQ(twice_after[2 * frame], noise[frame]) << frame;
        EXPECT_EQ(twice_after[2 * frame + 1], Bytes(frame_bytes, 0)) << frame;
    }
}

TEST_P(Resampling, CompareUsesTheCapturedFrameAsTheOriginal) {
    const auto source = camera();
    const auto results = run_frames(source, "noise=2,fps=1.5,compare=split:at=100");
    ASSERT_EQ(results.size(), 6u);
    for (std::size_t frame = 0; frame < results.size(); ++frame)
        EXPECT_EQ(results[frame], camera_frames()[2 * frame]) << frame;
}

TEST_P(Resampling, LimitCountsSentFrames) {
    auto options = job();
    options.frames = 4;
    RunJob run({.job = options,
                .input = {.source = endless_camera(), .filters = "noise=2,fps=1.5"},
                .output = folder_ / "out.bgr"});
    EXPECT_EQ(run.run().figures.frames, 4);
    EXPECT_EQ(raw_frames(folder_ / "out.bgr").size(), 4u);
}

TEST_P(Resampling, AllowsOneRateChangePerChain) {
    EXPECT_EQ(error_of([&] { run_frames(camera(), "fps=1,gray,fps=2"); }), ErrorCode::usage);
}

}  // namespace
}  // namespace framewire::jobs
