#include "framewire/plan/frame_ring.hpp"
#include "framewire/core/error.hpp"
#include "kit/allocations.hpp"
#include "kit/eventually.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <limits>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace framewire {
namespace {

using namespace std::chrono_literals;

// A frame ring whose slots hold a number: `capture` counts up, `process` marks the number, and `send` records it.
struct Numbers {
    FrameRingOptions options;
    Statistics statistics;
    std::int64_t length = 100;
    std::int64_t capture_fails_at = -1, process_fails_at = -1, send_fails_at = -1;
    std::function<void(std::int64_t)> before_capture = [](auto) {}, before_process = [](auto) {},
                                      before_send = [](auto) {};
    std::function<bool(std::int64_t)> sends = [](auto) { return true; };
    std::function<double(std::int64_t)> seconds_of = [](auto) { return 0.0; };
    std::function<bool(std::int64_t)> failed = [](auto) { return false; };
    std::vector<std::int64_t> sent;

    void run() {
        std::vector<std::int64_t> slots(static_cast<std::size_t>(options.slots));
        const auto at = [&](int slot) -> std::int64_t& { return slots[static_cast<std::size_t>(slot)]; };
        std::int64_t next = 0;
        run_frame_ring({.capture =
                            [&](int slot, FrameTime& time) {
                                before_capture(next);
                                if (next == capture_fails_at) fail(ErrorCode::source_lost, "capture failed");
                                if (next == length) return false;
                                time.index = next;
                                time.seconds = seconds_of(next);
                                at(slot) = next++;
                                return true;
                            },
                        .sends = [&](int slot) { return sends(at(slot)); },
                        .failed = [&](int slot) { return failed(at(slot)); },
                        .process =
                            [&](int slot, const FrameTime& time) {
                                before_process(time.index);
                                if (time.index == process_fails_at) fail(ErrorCode::internal, "process failed");
                                at(slot) += 1000;
                            },
                        .send =
                            [&](int slot, const FrameTime& time) {
                                before_send(time.index);
                                if (time.index == send_fails_at) fail(ErrorCode::io, "send failed");
                                EXPECT_EQ(at(slot), time.index + 1000);
                                sent.push_back(time.index);
                            }},
                       options, statistics);
    }

    ErrorCode failure() {
        try {
            run();
        } catch (const Error& error) {
            return error.code();
        }
        ADD_FAILURE() << "no exception";
        return {};
    }
};

std::vector<std::int64_t> counted(std::int64_t count) {
    std::vector<std::int64_t> numbers;
    for (std::int64_t number = 0; number < count; ++number) numbers.push_back(number);
    return numbers;
}

void wait_for_stop(const Numbers& numbers) {
    ASSERT_TRUE(kit::eventually([&] { return numbers.options.stop.stop_requested(); }))
        << "the stop was never requested";
}

// Sleeps for `time`, as the minimum duration of a slow stage.
void take(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }

// Blocks threads until it is opened once.
class Gate {
public:
    void open() {
        {
            const std::lock_guard lock(mutex_);
            open_ = true;
        }
        opened_.notify_all();
    }
    void wait() {
        std::unique_lock lock(mutex_);
        ASSERT_TRUE(opened_.wait_for(lock, 60s, [&] { return open_; })) << "the gate was never opened";
    }

private:
    std::mutex mutex_;
    std::condition_variable opened_;
    bool open_ = false;
};

TEST(FrameRing, SendsAllFramesInOrderAndCountsThem) {
    Numbers numbers;
    numbers.options.raw_frame_bytes = 7;
    numbers.length = 1000;
    numbers.run();
    EXPECT_EQ(numbers.sent, counted(1000));
    const auto figures = numbers.statistics.snapshot();
    EXPECT_EQ(figures.frames, 1000);
    EXPECT_EQ(figures.drops, 0);
    EXPECT_EQ(figures.raw_bytes, 7000);
    EXPECT_FALSE(numbers.options.stop.stop_requested());
}

TEST(FrameRing, ProcessesUnsentFramesWithoutCounting) {
    for (const int workers : {0, 2}) {
        Numbers numbers;
        numbers.options.raw_frame_bytes = 10;
        numbers.options.workers = workers;
        numbers.options.let_wait(1 + workers);
        numbers.options.max_frames = 30;
        numbers.sends = [](std::int64_t number) { return number % 3 == 1; };
        std::atomic<int> processed = 0;
        numbers.before_process = [&](std::int64_t) { ++processed; };
        numbers.run();
        std::vector<std::int64_t> wanted;
        for (std::int64_t number = 1; number < 90; number += 3) wanted.push_back(number);
        EXPECT_EQ(numbers.sent, wanted);
        EXPECT_EQ(processed, 89);
        EXPECT_EQ(numbers.statistics.snapshot().frames, 30);
        EXPECT_EQ(numbers.statistics.snapshot().raw_bytes, 300);
    }
}

TEST(FrameRing, SkipsFailedFrames) {
    Numbers numbers;
    numbers.length = 6;
    numbers.failed = [](std::int64_t number) { return number % 2 == 0; };
    numbers.run();
    EXPECT_EQ(numbers.sent, (std::vector<std::int64_t>{1, 3, 5}));
    EXPECT_EQ(numbers.statistics.snapshot().frames, 3);
}

TEST(FrameRing, EndsAtOnceForAnEmptySource) {
    Numbers numbers;
    numbers.length = 0;
    numbers.run();
    EXPECT_TRUE(numbers.sent.empty());
}

TEST(FrameRing, NeverDropsFramesOfAFile) {
    Numbers numbers;
    numbers.length = 40;
    numbers.options.slots = 4;
    numbers.before_send = [](auto) { take(2ms); };
    numbers.run();
    EXPECT_EQ(numbers.sent, counted(40));
    EXPECT_EQ(numbers.statistics.snapshot().drops, 0);
}

// Runs a ring whose `send` blocks on frame 0 until all 50 frames are captured. By then frames 1 and 2 have left the
// capture queue, where only the two newest, 48 and 49, wait. All frames in between are dropped.
void run_with_blocked_send(Numbers& numbers) {
    numbers.length = 50;
    Gate sending, third_processed, captured;
    numbers.before_send = [&](std::int64_t index) {
        if (index != 0) return;
        sending.open();
        captured.wait();
    };
    numbers.before_process = [&](std::int64_t index) {
        if (index == 2) third_processed.open();
    };
    numbers.before_capture = [&](std::int64_t index) {
        if (index == 1) sending.wait();
        if (index == 3) third_processed.wait();
        if (index == 50) captured.open();
    };
    numbers.run();
}

TEST(FrameRing, DropsTheOldestWaitingFrameOfALiveSource) {
    Numbers numbers;
    numbers.options.drop_when_late = true;
    numbers.options.slots = 6;
    run_with_blocked_send(numbers);
    EXPECT_EQ(numbers.sent, (std::vector<std::int64_t>{0, 1, 2, 48, 49}));
    EXPECT_EQ(numbers.statistics.snapshot().drops, 45);
    EXPECT_EQ(numbers.statistics.snapshot().frames, 5);
}

TEST(FrameRing, KeepsFramesWithinThePatience) {
    // Frames that a camera sends in a burst after connecting are ahead of their own times.
    Numbers numbers;
    numbers.options.drop_when_late = true;
    numbers.options.patience_seconds = 10;
    numbers.options.slots = 4;
    numbers.length = 60;
    numbers.seconds_of = [](std::int64_t index) { return 1000.0 * static_cast<double>(index); };
    numbers.before_send = [](auto) { take(1ms); };
    numbers.run();
    EXPECT_EQ(numbers.sent, counted(60));
    EXPECT_EQ(numbers.statistics.snapshot().drops, 0);
}

TEST(FrameRing, DropsFramesWhenPatienceRunsOut) {
    // Same as DropsTheOldestWaitingFrameOfALiveSource, but from the second frame on all frames are 1000 s late.
    Numbers numbers;
    numbers.options.drop_when_late = true;
    numbers.options.patience_seconds = 10;
    numbers.seconds_of = [](std::int64_t index) { return index == 0 ? 1000.0 : 0.0; };
    run_with_blocked_send(numbers);
    EXPECT_EQ(numbers.sent, (std::vector<std::int64_t>{0, 1, 2, 48, 49}));
    EXPECT_EQ(numbers.statistics.snapshot().drops, 45);
}

TEST(FrameRing, RunsTheStagesInParallel) {
    // Each stage waits, at its third frame or earlier, until the two other stages have started.
    Numbers numbers;
    numbers.length = 10;
    Gate capturing, processing, sending;
    numbers.before_capture = [&](std::int64_t index) {
        if (index != 2) return;
        capturing.open();
        processing.wait();
        sending.wait();
    };
    numbers.before_process = [&](std::int64_t index) {
        if (index != 1) return;
        processing.open();
        capturing.wait();
        sending.wait();
    };
    numbers.before_send = [&](std::int64_t index) {
        if (index != 0) return;
        sending.open();
        capturing.wait();
        processing.wait();
    };
    numbers.run();
    EXPECT_EQ(numbers.sent, counted(10));
}

TEST(FrameRing, LimitsTheFramesThatWaitToBeSent) {
    // `send` blocks on the first frame until `waiting` more frames wait and the next one is processed. No further frame
    // is processed until `send` continues.
    for (const int waiting : {1, 2, 5}) {
        Numbers numbers;
        numbers.options.waiting = waiting;
        numbers.options.slots = waiting + 3;
        numbers.length = 20;
        Gate processed;
        std::atomic<bool> goes_on = false;
        numbers.before_process = [&](std::int64_t index) {
            if (index == waiting + 1) processed.open();
            EXPECT_TRUE(index <= waiting + 1 || goes_on) << index;
        };
        numbers.before_send = [&](std::int64_t index) {
            if (index == 0) processed.wait();
            goes_on = true;
        };
        numbers.run();
        EXPECT_EQ(numbers.sent, counted(20));
    }
}

// A frame is sent only after the work that `process` started has been waited for. That time counts as processing time,
// and a failure of that work is treated as a failure of `send`.
TEST(FrameRing, WaitsForWorkStartedByProcess) {
    FrameRingOptions options;
    options.let_wait(3);
    EXPECT_EQ(options.slots - options.waiting, FrameRingOptions{}.slots - FrameRingOptions{}.waiting);
    for (const bool fails : {false, true}) {
        Statistics statistics;
        std::vector<char> states;  // states of the frames, in frame order
        int next = 0;
        const auto run = [&] {
            run_frame_ring({.capture = [&](int, FrameTime&) { return next++ < 5; },
                            .process = [](int, const FrameTime&) {},
                            .wait =
                                [&](int) {
                                    if (fails && states.size() == 4)
                                        fail(ErrorCode::internal, "the work on the GPU failed");
                                    take(20ms);
                                    states.push_back('w');
                                },
                            .send = [&](int, const FrameTime&) { states.push_back('s'); }},
                           options, statistics);
        };
        if (fails)
            EXPECT_THROW(run(), Error);
        else
            run();
        EXPECT_EQ(std::string(states.begin(), states.end()), fails ? "wsws" : "wswswswsws");
        EXPECT_GE(statistics.snapshot().process_ms.mean_ms, 20);
    }
}

// Each of three workers holds its frame until all three have one. The first of each three holds it longest.
TEST(FrameRing, WaitsForFramesInParallelAndSendsThemInOrder) {
    FrameRingOptions options;
    options.workers = 3;
    options.let_wait(3);
    Statistics statistics;
    std::vector<std::int64_t> frames(static_cast<std::size_t>(options.slots)), sent;
    const auto at = [&](int slot) -> std::int64_t& { return frames[static_cast<std::size_t>(slot)]; };
    std::int64_t next = 0;
    std::barrier together(3);
    run_frame_ring({.capture =
                        [&](int slot, FrameTime&) {
                            at(slot) = next;
                            return next++ < 30;
                        },
                    .process = [](int, const FrameTime&) {},
                    .wait =
                        [&](int slot) {
                            together.arrive_and_wait();
                            if (at(slot) % 3 == 0) take(5ms);
                            at(slot) += 1000;
                        },
                    .send = [&](int slot, const FrameTime&) { sent.push_back(at(slot) - 1000); }},
                   options, statistics);
    EXPECT_EQ(sent, counted(30));
}

TEST(FrameRing, SendsFramesBeforeAFailedWait) {
    for (const int workers : {1, 2, 4}) {
        FrameRingOptions options;
        options.workers = workers;
        options.let_wait(4);
        Statistics statistics;
        std::vector<std::int64_t> frames(static_cast<std::size_t>(options.slots)), sent;
        std::int64_t next = 0;
        const auto run = [&] {
            run_frame_ring(
                {.capture =
                     [&](int slot, FrameTime&) {
                         frames[static_cast<std::size_t>(slot)] = next++;
                         return true;
                     },
                 .process = [](int, const FrameTime&) {},
                 .wait =
                     [&](int slot) {
                         if (frames[static_cast<std::size_t>(slot)] == 7) fail(ErrorCode::internal, "7 failed");
                     },
                 .send = [&](int slot, const FrameTime&) { sent.push_back(frames[static_cast<std::size_t>(slot)]); }},
                options, statistics);
        };
        EXPECT_THROW(run(), Error);
        EXPECT_EQ(sent, counted(7)) << workers;
    }
}

TEST(FrameRing, StopsAtTheFrameLimit) {
    Numbers numbers;
    numbers.options.max_frames = 5;
    numbers.before_capture = [](std::int64_t index) { EXPECT_LT(index, 5) << "captured more frames than requested"; };
    numbers.run();
    EXPECT_EQ(numbers.sent, counted(5));
}

TEST(FrameRing, FrameLimitIgnoresDroppedFrames) {
    // `send` blocks on the first frame until more frames were captured than there are slots or were requested.
    Numbers numbers;
    numbers.length = 1'000'000'000;
    numbers.options.max_frames = 20;
    numbers.options.drop_when_late = true;
    Gate captured;
    numbers.before_capture = [&](std::int64_t index) {
        if (index == 50) captured.open();
    };
    numbers.before_send = [&](std::int64_t index) {
        if (index == 0) captured.wait();
    };
    numbers.run();
    EXPECT_EQ(numbers.sent.size(), 20u);
    EXPECT_GE(numbers.statistics.snapshot().drops, 50 - numbers.options.slots);
}

TEST(FrameRing, SendsFramesCapturedBeforeAFailure) {
    Numbers numbers;
    numbers.capture_fails_at = 17;
    numbers.before_send = [](auto) { take(1ms); };
    EXPECT_EQ(numbers.failure(), ErrorCode::source_lost);
    EXPECT_EQ(numbers.sent, counted(17));
}

TEST(FrameRing, SendsFramesProcessedBeforeAFailure) {
    Numbers numbers;
    numbers.process_fails_at = 17;
    numbers.before_send = [](auto) { take(1ms); };
    EXPECT_EQ(numbers.failure(), ErrorCode::internal);
    EXPECT_EQ(numbers.sent, counted(17));
}

TEST(FrameRing, SendsNothingAfterAFailedSend) {
    Numbers numbers;
    numbers.send_fails_at = 17;
    EXPECT_EQ(numbers.failure(), ErrorCode::io);
    EXPECT_EQ(numbers.sent, counted(17));
}

TEST(FrameRing, ThrowsTheFirstOfSeveralFailures) {
    Numbers numbers;
    numbers.capture_fails_at = 5;
    numbers.send_fails_at = 4;
    Gate captured;
    numbers.before_capture = [&](std::int64_t index) {
        if (index == 5) captured.open();
    };
    numbers.before_send = [&](std::int64_t index) {
        if (index != 4) return;
        captured.wait();
        wait_for_stop(numbers);  // the failure of `capture` requests the stop
    };
    EXPECT_EQ(numbers.failure(), ErrorCode::source_lost);
    EXPECT_EQ(numbers.sent, counted(4));
}

TEST(FrameRing, FailureStopsAWaitingSource) {
    Numbers numbers;
    numbers.process_fails_at = 2;
    numbers.before_capture = [&](std::int64_t index) {
        if (index == 3) wait_for_stop(numbers);
    };
    EXPECT_EQ(numbers.failure(), ErrorCode::internal);
}

TEST(FrameRing, StopSendsTheFramesInFlight) {
    Numbers numbers;
    numbers.length = 1'000'000'000;
    numbers.before_send = [&](std::int64_t index) {
        if (index == 9) numbers.options.stop.request_stop();
    };
    numbers.run();
    ASSERT_GE(numbers.sent.size(), 10u);
    EXPECT_LE(numbers.sent.size(), 10u + static_cast<std::size_t>(numbers.options.slots));
    EXPECT_EQ(numbers.sent, counted(static_cast<std::int64_t>(numbers.sent.size())));
}

TEST(FrameRing, StopBeforeTheStartSendsNothing) {
    Numbers numbers;
    numbers.options.stop.request_stop();
    numbers.run();
    EXPECT_TRUE(numbers.sent.empty());
}

TEST(FrameRing, StopInterruptsThePauseBetweenFrames) {
    Statistics statistics;
    FrameRingOptions options;
    options.at_source_rate = true;
    std::int64_t next = 0, sent = 0;
    const auto begin = Clock::now();
    run_frame_ring({.capture =
                        [&](int, FrameTime& time) {
                            time.seconds = 4.0 * static_cast<double>(next++);
                            return true;
                        },
                    .process = [](int, const FrameTime&) {},
                    .send =
                        [&](int, const FrameTime&) {
                            ++sent;
                            options.stop.request_stop();
                        }},
                   options, statistics);
    EXPECT_EQ(sent, 1);
    EXPECT_LT(milliseconds_since(begin), 3'000);
}

TEST(FrameRing, PlaysAtTheRateOfTheSource) {
    Statistics statistics;
    FrameRingOptions options;
    options.at_source_rate = true;
    options.max_frames = 11;
    std::int64_t next = 0;
    const auto begin = Clock::now();
    run_frame_ring({.capture =
                        [&](int, FrameTime& time) {
                            time.seconds = 0.02 * static_cast<double>(next++);
                            return true;
                        },
                    .process = [](int, const FrameTime&) {},
                    .send = [](int, const FrameTime&) {}},
                   options, statistics);
    EXPECT_GE(milliseconds_since(begin), 199);
    EXPECT_LT(milliseconds_since(begin), 10'000);
}

TEST(FrameRing, DoesNotAllocateWhileRunning) {
    for (const bool live : {false, true}) {
        Statistics statistics;
        FrameRingOptions options;
        options.workers = 2;
        options.drop_when_late = live;
        options.max_frames = 2000;
        std::int64_t sent = 0, after_first = 0, at_end = 0;
        run_frame_ring({.capture = [](int, FrameTime&) { return true; },
                        .process = [](int, const FrameTime&) {},
                        .wait = [](int) {},
                        .send =
                            [&](int, const FrameTime&) {
                                if (++sent == 1) after_first = kit::allocations();
                                if (sent == 2000) at_end = kit::allocations();
                            }},
                       options, statistics);
        EXPECT_EQ(sent, 2000);
        EXPECT_GT(after_first, 0);
        EXPECT_EQ(at_end, after_first) << (live ? "live" : "file");
    }
}

TEST(FrameRing, RejectsInvalidOptions) {
    Numbers numbers;
    numbers.options.slots = 3;
    EXPECT_EQ(numbers.failure(), ErrorCode::usage);
    numbers.options.slots = 4;
    numbers.options.max_frames = 0;
    EXPECT_EQ(numbers.failure(), ErrorCode::usage);
    numbers.options.max_frames = 1;
    for (const int waiting : {0, 2}) {
        numbers.options.waiting = waiting;
        EXPECT_EQ(numbers.failure(), ErrorCode::usage);
    }
    numbers.options.waiting = 1;
    numbers.options.workers = -1;
    EXPECT_EQ(numbers.failure(), ErrorCode::usage);
}

using namespace std::chrono_literals;

const Clock::time_point start = Clock::time_point{} + 1000s;

TEST(Pacer, FollowsFrameTimestamps) {
    Pacer pacer;
    EXPECT_EQ(pacer.due(7.0, start), start);
    EXPECT_EQ(pacer.due(7.25, start + 1ms), start + 250ms);
    EXPECT_EQ(pacer.due(7.5, start + 251ms), start + 500ms);
}

TEST(Pacer, CatchesUpAfterShortDelaysOnly) {
    Pacer pacer;
    pacer.due(0, start);
    EXPECT_EQ(pacer.due(0.25, start + 900ms), start + 250ms);
    EXPECT_EQ(pacer.due(0.5, start + 900ms), start + 500ms);
    EXPECT_EQ(pacer.due(0.75, start + 10s), start + 10s);
    EXPECT_EQ(pacer.due(1.0, start + 10s), start + 10s + 250ms);
}

TEST(Pacer, ToleratesImplausibleTimes) {
    Pacer pacer;
    pacer.due(0, start);
    EXPECT_EQ(pacer.due(1e300, start), start + Pacer::longest_gap);
    EXPECT_EQ(pacer.due(3, start), start + Pacer::longest_gap);
    EXPECT_EQ(pacer.due(std::numeric_limits<double>::quiet_NaN(), start), start + Pacer::longest_gap);
    EXPECT_EQ(pacer.due(4, start), start + Pacer::longest_gap);
    EXPECT_EQ(pacer.due(4.5, start), start + Pacer::longest_gap + 500ms);
}

}  // namespace
}  // namespace framewire
