#include "framewire/jobs/show.hpp"
#include "framewire/jobs/job_testing_testing.hpp"
#include "framewire/jobs/run.hpp"
#include "kit/eventually.hpp"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

namespace framewire::jobs {
namespace {

using namespace std::chrono_literals;

// Runs a job on another thread and records what it shows.
class Showing {
public:
    explicit Showing(ShowOptions options) {
        options.job.stop = stop_.get_token();
        options.on_frame = [this](const ShownFrame& frame) {
            const std::lock_guard lock(mutex_);
            shown_.push_back(frame.time.index);
            captured_ = bytes_of(frame.captured);
            result_ = bytes_of(frame.result);
            changed_.notify_all();
        };
        job_ = std::make_unique<ShowJob>(options);
        thread_ = std::jthread([this] {
            try {
                job_->run();
            } catch (...) {
                failure_ = std::current_exception();
            }
        });
    }
    ~Showing() { stop(); }

    ShowJob& job() { return *job_; }
    /// Waits until `count` frames have been shown. Returns the number of the last one.
    std::int64_t shown(std::size_t count) {
        std::unique_lock lock(mutex_);
        EXPECT_TRUE(changed_.wait_for(lock, 60s, [&] { return shown_.size() >= count; })) << shown_.size();
        return shown_.empty() ? -1 : shown_.back();
    }
    std::vector<std::int64_t> numbers() {
        const std::lock_guard lock(mutex_);
        return shown_;
    }
    Bytes captured() { return captured_; }
    Bytes result() { return result_; }
    template <class Condition>
    bool reaches(Condition&& condition) {
        return kit::eventually([&] { return condition(job_->state()); });
    }
    void stop() {
        stop_.request_stop();
        if (thread_.joinable()) thread_.join();
    }
    void rethrow() const {
        if (failure_) std::rethrow_exception(failure_);
    }

private:
    static Bytes bytes_of(HostView<const std::uint8_t> view) {
        return {view.data(), view.data() + view.shape().bytes()};
    }

    std::stop_source stop_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::int64_t> shown_;
    Bytes captured_, result_;
    std::unique_ptr<ShowJob> job_;
    std::exception_ptr failure_;
    std::jthread thread_;
};

class Show : public JobTest {};
FRAMEWIRE_ON_EVERY_BACKEND(Show);

TEST_P(Show, ShowsEveryFrameAndStaysOpen) {
    Showing showing({.job = job(), .input = {.source = camera()}, .speed = 100});
    EXPECT_EQ(showing.shown(frames), frames - 1);
    EXPECT_TRUE(showing.reaches([](const PlaybackState& state) { return state.ended; }));
    EXPECT_EQ(showing.numbers().size(), std::size_t{frames});
    EXPECT_TRUE(showing.job().seek(0));
    EXPECT_EQ(showing.shown(2 * frames), frames - 1) << "and goes on from where it is sent";
    showing.stop();
    EXPECT_NO_THROW(showing.rethrow());
    EXPECT_EQ(showing.captured(), camera_frames().back());
}

TEST_P(Show, StepsForwardAndBack) {
    Showing showing({.job = job(), .input = {.source = camera()}, .paused = true});
    std::size_t count = 0;
    EXPECT_EQ(showing.shown(++count), 0);
    for (std::int64_t number = 1; number < 5; ++number) {
        showing.job().step();
        EXPECT_EQ(showing.shown(++count), number);
        EXPECT_EQ(showing.captured(), camera_frames()[static_cast<std::size_t>(number)]);
    }
    for (std::int64_t number = 3; number >= 0; --number) {
        showing.job().step_back();
        EXPECT_EQ(showing.shown(++count), number);
        EXPECT_EQ(showing.captured(), camera_frames()[static_cast<std::size_t>(number)]);
    }
    showing.job().step();
    EXPECT_EQ(showing.shown(++count), 1);
    EXPECT_EQ(showing.numbers(), (std::vector<std::int64_t>{0, 1, 2, 3, 4, 3, 2, 1, 0, 1})) << "a pause is one";
    EXPECT_TRUE(showing.job().state().paused);
}

TEST_P(Show, SeeksDuringAPause) {
    Showing showing({.job = job(), .input = {.source = camera()}, .paused = true});
    EXPECT_EQ(showing.shown(1), 0);
    // 2 s are 6 frames at 3 frames/s
    EXPECT_TRUE(showing.job().seek(2));
    EXPECT_EQ(showing.shown(2), 6);
    EXPECT_TRUE(showing.job().seek_by(-1));
    EXPECT_EQ(showing.shown(3), 3);
    EXPECT_TRUE(showing.job().seek_by(1000));
    EXPECT_EQ(showing.shown(4), frames - 1) << "the last frame, not behind it";
    EXPECT_TRUE(showing.job().seek_by(-1000));
    EXPECT_EQ(showing.shown(5), 0);
}

// The captured frame is shown beside the result, also if the filters run on its planes.
TEST_P(Show, ShowsCapturedFramesOfPlanes) {
    const auto clip = folder_ / "clip.y4m";
    RunJob({.job = job(), .input = {.source = camera()}, .output = clip + ":pixels=yuv420p"}).run();
    const auto captured_with = [&](const char* filters) {
        Showing showing({.job = job(), .input = {.source = clip, .filters = filters}, .paused = true});
        showing.shown(1);
        showing.job().step();
        EXPECT_EQ(showing.shown(2), 1);
        return showing.captured();
    };
    const auto without = captured_with("");
    EXPECT_EQ(captured_with("mosaic=16"), without);
    EXPECT_EQ(captured_with("median=3"), without);
}

TEST_P(Show, FiltersForgetFramesBeforeASeek) {
    const auto source = camera();
    const auto all = camera_frames();
    Showing showing({.job = job(), .input = {.source = source, .filters = "noise=0"}, .paused = true});
    showing.shown(1);
    showing.job().seek(2);
    EXPECT_EQ(showing.shown(2), 6);
    EXPECT_EQ(showing.captured(), all[6]);
    EXPECT_EQ(showing.result(), Bytes(all[6].size(), 0)) << "a first frame differs from nothing";
    showing.job().step();
    EXPECT_EQ(showing.shown(3), 7);
    EXPECT_NE(showing.result(), Bytes(all[6].size(), 0)) << "the next one does";
}

TEST_P(Show, AppliesControlRequestsDuringAPause) {
    const auto first = camera_frames()[0];
    Showing showing({.job = job(), .input = {.source = camera(), .filters = "flip=vertical"}, .paused = true});
    showing.shown(1);
    const auto flipped = showing.result();
    EXPECT_NE(flipped, first);
    showing.job().control(service::FilterRequest{1, false});
    EXPECT_EQ(showing.shown(2), 0);
    EXPECT_EQ(showing.result(), first) << "no filter is left";
    EXPECT_FALSE(showing.job().controls().filters.at(0).on);
    const Adjustment white{.brightness = 255};
    showing.job().control(white);
    EXPECT_EQ(showing.shown(3), 0);
    EXPECT_EQ(showing.result(), Bytes(first.size(), 255));
    EXPECT_EQ(showing.captured(), first);
    EXPECT_EQ(showing.job().controls().adjustment, white);
    showing.job().control(Adjustment{});
    showing.shown(4);
    showing.job().control(service::FilterRequest{1, true});
    EXPECT_EQ(showing.shown(5), 0);
    EXPECT_EQ(showing.result(), flipped);
    EXPECT_EQ(error_of([&] { showing.job().control(service::FilterRequest{2, true}); }), ErrorCode::usage);
    EXPECT_EQ(error_of([&] { showing.job().control(Adjustment{.gain = 9}); }), ErrorCode::usage);
}

TEST_P(Show, KeepsAdjustmentsAcrossASeek) {
    const std::string chain = "adjust=contrast=2,gray";
    Showing showing({.job = job(), .input = {.source = camera(), .filters = chain}, .paused = true});
    showing.shown(1);
    EXPECT_EQ(showing.job().controls().adjustment, Adjustment{.contrast = 2});
    showing.job().control(Adjustment{.brightness = -255});
    showing.shown(2);
    EXPECT_EQ(showing.result(), Bytes(showing.result().size(), 0));
    showing.job().seek(2);
    EXPECT_EQ(showing.shown(3), 6);
    EXPECT_EQ(showing.result(), Bytes(showing.result().size(), 0));
}

TEST_P(Show, PlaysAtTheSourceRateTimesTheSpeed) {
    // Time is measured from before the first frame: on a busy machine this thread may notice that frame late, but no
    // frame is shown early.
    const auto begin = Clock::now();
    // six times 3 frames/s, so 18 frames/s
    Showing showing({.job = job(), .input = {.source = camera()}, .speed = 6});
    showing.shown(10);
    EXPECT_GE(milliseconds_since(begin), 9 * 1000.0 / 18 - 60);
}

TEST_P(Show, KeepsTheLastPictureOfALostSource) {
    Showing showing({.job = job(), .input = {.source = broken_source(4)}, .speed = 100});
    EXPECT_EQ(showing.shown(4), 3);
    ASSERT_TRUE(showing.reaches([](const PlaybackState& state) { return !state.lost.empty(); }));
    EXPECT_NE(showing.job().state().lost.find("truncated in frame 4"), std::string::npos) << showing.job().state().lost;
    EXPECT_TRUE(showing.job().seek(0));
    EXPECT_EQ(showing.shown(8), 3) << "what is there can be looked at again";
    ASSERT_TRUE(showing.reaches([](const PlaybackState& state) { return !state.lost.empty(); }));
    showing.stop();
    EXPECT_EQ(error_of([&] { showing.rethrow(); }), ErrorCode::source_lost);
}

TEST_P(Show, StopsAtTheFrameLimit) {
    auto options = job();
    options.frames = 3;
    std::int64_t shown = 0;
    ShowJob show(
        {.job = options, .input = {.source = endless_camera()}, .speed = 100, .on_frame = [&](const ShownFrame&) {
             ++shown;
         }});
    show.run();
    EXPECT_EQ(shown, 3);
}

TEST_P(Show, StopsDuringAPause) {
    Showing showing({.job = job(), .input = {.source = endless_camera()}, .paused = true});
    showing.shown(1);
    showing.stop();
    EXPECT_NO_THROW(showing.rethrow());
}

}  // namespace
}  // namespace framewire::jobs
