#include "framewire/plan/frame_ring.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace framewire {

// The frame ring. Slots move between queues, and each stage waits for its queue:
//
//     free_ -> capture thread -> captured_ -> process thread -> to_send_ -> calling thread -> free_
//                                                         \-> workers (wait) -/
//
// One mutex guards all queues. When a source is live and no slot is free, capture takes the oldest slot of captured_
// instead, which drops that frame.
namespace {

constexpr int no_slot = -1;
constexpr int least_slots_beside_waiting = 3;

// Queue of slot numbers in order of arrival, with capacity for all slots.
class SlotQueue {
public:
    explicit SlotQueue(int slots) : numbers_(static_cast<std::size_t>(slots)) {}

    bool empty() const { return count_ == 0; }
    int size() const { return static_cast<int>(count_); }
    void push(int slot) { numbers_[(first_ + count_++) % numbers_.size()] = slot; }
    int pop() {
        const int slot = numbers_[first_];
        first_ = (first_ + 1) % numbers_.size();
        --count_;
        return slot;
    }

private:
    std::vector<int> numbers_;
    std::size_t first_ = 0, count_ = 0;
};

// Worker pool: threads that wait for several slots in parallel. Guarded by `mutex_`, except `threads`, which never
// changes.
struct WorkerPool {
    // Result of waiting for the work on one slot.
    struct Done {
        bool over = false;
        std::exception_ptr failure;  // rethrown in send(), after the frames before this one were sent
    };

    WorkerPool(int threads_, int slots) : threads(threads_), to_do(slots), done(static_cast<std::size_t>(slots)) {}

    int threads;
    SlotQueue to_do;
    std::vector<Done> done;
    std::condition_variable called;
};

// One run of the ring. Member functions named `..._all` are thread bodies.
class FrameRing {
public:
    FrameRing(const FrameRingStages& stages, const FrameRingOptions& options, Statistics& statistics)
        : stages_(stages),
          options_(options),
          statistics_(statistics),
          times_(static_cast<std::size_t>(options.slots)),
          sent_(static_cast<std::size_t>(options.slots), true),
          process_ms_(static_cast<std::size_t>(options.slots)),
          workers_(stages.wait ? options.workers : 0, options.slots),
          free_(options.slots),
          captured_(options.slots),
          to_send_(options.slots) {
        for (int slot = 0; slot < options.slots; ++slot) free_.push(slot);
    }

    // The stop callback wakes every stage. All threads are joined before the first failure is rethrown.
    void run() {
        statistics_.start();
        const std::stop_callback on_stop(options_.stop.get_token(),
                                         [this] { change_for_all([this] { closed_ = true; }); });
        {
            std::vector<std::jthread> threads;
            threads.reserve(static_cast<std::size_t>(2 + workers_.threads));
            try {
                for (int worker = 0; worker < workers_.threads; ++worker)
                    threads.emplace_back([this] { wait_for_all(); });
                threads.emplace_back([this] { run_stage([this] { capture_all(); }, captured_ended_); });
                threads.emplace_back([this] { run_stage([this] { process_all(); }, processed_ended_); });
            } catch (...) {  // a thread could not be started: end those that run
                keep_failure(std::current_exception());
                change_for_all([this] { processed_ended_ = true; });
            }
            run_stage([this] { send_all(); }, sent_ended_);
        }
        if (failure_) std::rethrow_exception(failure_);
    }

private:
    // Changes state that one stage waits for, and wakes one of its threads. Waking threads that find nothing to do
    // costs more than most stages, because each of them takes the mutex.
    template <class Change>
    void change(std::condition_variable& stage, Change&& apply) {
        {
            const std::lock_guard lock(mutex_);
            apply();
        }
        stage.notify_one();
    }

    // Changes state that every stage checks: either one stage has ended, or all must end.
    template <class Change>
    void change_for_all(Change&& apply) {
        {
            const std::lock_guard lock(mutex_);
            apply();
        }
        for (auto* stage : {&capture_, &process_, &workers_.called, &send_}) stage->notify_all();
    }

    // Runs one stage to its end and notifies the others.
    template <class Body>
    void run_stage(Body&& body, bool& ended) {
        try {
            body();
        } catch (...) {
            keep_failure(std::current_exception());
        }
        change_for_all([&] { ended = true; });
    }

    // Stores the first failure. Frames that were captured before it are still processed and sent, as far as the later
    // stages can. The stop request interrupts a capture that waits for its source.
    void keep_failure(std::exception_ptr failure) {
        change_for_all([&] {
            if (!failure_) failure_ = std::move(failure);
            closed_ = true;
        });
        auto stop = options_.stop;
        stop.request_stop();
    }

    // Body of the capture thread.
    void capture_all() {
        Pacer pacer;
        std::int64_t kept = 0;
        while (!options_.max_frames || kept < *options_.max_frames) {
            bool dropped = false;
            const int slot = take_to_fill(dropped);
            if (slot == no_slot) return;
            const auto index = static_cast<std::size_t>(slot);
            // A dropped frame does not count towards the limit.
            if (dropped && sent_[index]) --kept;
            auto& time = times_[index];
            time = {};
            const auto begin = Clock::now();
            if (!stages_.capture(slot, time)) return;
            const auto now = Clock::now();
            statistics_.record(Stage::read, milliseconds(begin, now));
            if (time.captured == Clock::time_point{}) time.captured = now;
            measure_lateness(time.seconds, now);
            if (options_.at_source_rate) {
                // A camera could not have delivered the frame earlier.
                const auto due = pacer.due(time.seconds, now);
                if (!wait_until(due)) return;
                time.captured = std::max(time.captured, due);
            }
            sent_[index] = !stages_.sends || stages_.sends(slot);
            if (sent_[index]) ++kept;
            change(process_, [&] { captured_.push(slot); });
        }
    }

    // Body of the process thread.
    void process_all() {
        for (;;) {
            const int slot = take(captured_, captured_ended_, process_);
            if (slot == no_slot) return;
            const auto begin = Clock::now();
            stages_.process(slot, times_[static_cast<std::size_t>(slot)]);
            process_ms_[static_cast<std::size_t>(slot)] = milliseconds_since(begin);
            std::unique_lock lock(mutex_);
            process_.wait(lock, [&] { return to_send_.size() < options_.waiting || sent_ended_; });
            to_send_.push(slot);
            if (workers_.threads > 0) workers_.to_do.push(slot);
            lock.unlock();
            send_.notify_one();
            workers_.called.notify_one();
        }
    }

    // Body of a worker thread.
    void wait_for_all() {
        for (;;) {
            const int slot = take(workers_.to_do, processed_ended_, workers_.called);
            if (slot == no_slot) return;
            WorkerPool::Done done{true, {}};
            try {
                wait_for(slot);
            } catch (...) {
                done.failure = std::current_exception();
            }
            change(send_, [&] { workers_.done[static_cast<std::size_t>(slot)] = std::move(done); });
        }
    }

    void wait_for(int slot) {
        const auto begin = Clock::now();
        stages_.wait(slot);
        process_ms_[static_cast<std::size_t>(slot)] += milliseconds_since(begin);
    }

    // Blocks until a worker has finished with the slot. Rethrows the worker's exception.
    void take_waited(int slot) {
        auto& done = workers_.done[static_cast<std::size_t>(slot)];
        std::unique_lock lock(mutex_);
        send_.wait(lock, [&] { return done.over; });
        done.over = false;
        if (done.failure) std::rethrow_exception(done.failure);
    }

    // Body of the send stage, which runs on the calling thread.
    void send_all() {
        for (;;) {
            const int slot = take(to_send_, processed_ended_, send_);
            if (slot == no_slot) return;
            process_.notify_one();  // one frame fewer is waiting to be sent
            if (workers_.threads > 0)
                take_waited(slot);
            else if (stages_.wait)
                wait_for(slot);
            if (sent_[static_cast<std::size_t>(slot)] && !(stages_.failed && stages_.failed(slot))) send(slot);
            change(capture_, [&] { free_.push(slot); });
        }
    }

    // Sends a slot. Only frames that are sent count in the statistics.
    void send(int slot) {
        statistics_.record(Stage::process, process_ms_[static_cast<std::size_t>(slot)]);
        const auto begin = Clock::now();
        stages_.send(slot, times_[static_cast<std::size_t>(slot)]);
        statistics_.record(Stage::send, milliseconds_since(begin));
        statistics_.count_frame(options_.raw_frame_bytes);
    }

    // Returns a free slot or, if frames may be dropped, that of the oldest captured frame.
    int take_to_fill(bool& dropped) {
        std::unique_lock lock(mutex_);
        // Decided once per capture, by the lateness of the last captured frame.
        const bool drops = options_.drop_when_late && is_too_late();
        capture_.wait(lock, [&] { return closed_ || !free_.empty() || (drops && !captured_.empty()); });
        if (closed_) return no_slot;
        if (!free_.empty()) return free_.pop();
        if (options_.patience_seconds > 0 && !std::exchange(warned_, true))
            log_warning(
                "frames arrive faster than they can be processed and are {:.0f} s late; dropping frames from now on",
                late_seconds_);
        dropped = true;
        statistics_.count_drop();
        return captured_.pop();
    }

    // Computes the lateness of a frame by its own time, relative to the frame that was captured with the least delay.
    void measure_lateness(double seconds, Clock::time_point now) {
        const double behind = milliseconds(first_captured_, now) / 1000 - seconds;
        least_behind_ = std::min(least_behind_, behind);
        late_seconds_ = behind - least_behind_;
    }

    bool is_too_late() const { return options_.patience_seconds <= 0 || late_seconds_ > options_.patience_seconds; }

    // Returns the next slot of a stage's queue. Returns no_slot if the previous stage has ended and its queue is empty,
    // or if nothing more is sent.
    int take(SlotQueue& queue, const bool& ended, std::condition_variable& stage) {
        std::unique_lock lock(mutex_);
        stage.wait(lock, [&] { return !queue.empty() || ended || sent_ended_; });
        return queue.empty() || sent_ended_ ? no_slot : queue.pop();
    }

    // Waits until `when`. Returns false if the run is stopped before that time.
    bool wait_until(Clock::time_point when) {
        std::unique_lock lock(mutex_);
        return !capture_.wait_until(lock, when, [&] { return closed_; });
    }

    const FrameRingStages& stages_;
    const FrameRingOptions& options_;
    Statistics& statistics_;
    std::vector<FrameTime> times_;
    std::vector<char> sent_;          // per slot: true if the frame is to be sent
    std::vector<double> process_ms_;  // per slot: processing time so far

    // Used by the capture thread only.
    Clock::time_point first_captured_ = Clock::now();
    double least_behind_ = std::numeric_limits<double>::infinity();
    double late_seconds_ = 0;  // lateness of the last captured frame
    bool warned_ = false;

    std::mutex mutex_;
    std::condition_variable capture_, process_, send_;  // one per stage
    // Guarded by mutex_: the slots by state, which stages have ended, and the first failure.
    WorkerPool workers_;
    SlotQueue free_, captured_, to_send_;
    bool closed_ = false;  // true if no more frames are captured
    bool captured_ended_ = false, processed_ended_ = false, sent_ended_ = false;
    std::exception_ptr failure_;
};

}  // namespace

void run_frame_ring(const FrameRingStages& stages, const FrameRingOptions& options, Statistics& statistics) {
    if (options.waiting < 1)
        fail(ErrorCode::usage, "the limit on frames waiting to be sent is {}; it must be at least 1", options.waiting);
    // One slot each is needed for capture, process and send.
    if (options.slots - options.waiting < least_slots_beside_waiting)
        fail(ErrorCode::usage,
             "the frame ring has {} slots; at least {} are needed in addition to the {} for frames waiting to be sent",
             options.slots, least_slots_beside_waiting, options.waiting);
    if (options.workers < 0)
        fail(ErrorCode::usage, "the number of workers is {}; it must not be negative", options.workers);
    if (options.max_frames && *options.max_frames < 1)
        fail(ErrorCode::usage, "the frame limit is {}; it must be at least 1", *options.max_frames);
    FrameRing(stages, options, statistics).run();
}

// Due times advance by the gaps between the frames' own times, so that the delays of single frames do not accumulate.
Clock::time_point Pacer::due(double seconds, Clock::time_point now) {
    const double gap_s = seconds - seconds_;
    seconds_ = seconds;
    if (!started_ || now - due_ > longest_lag) {
        started_ = true;
        due_ = now;
    } else if (gap_s > 0) {  // false for NaN too
        const std::chrono::duration<double> gap{std::min(gap_s, std::chrono::duration<double>(longest_gap).count())};
        due_ += std::chrono::duration_cast<Clock::duration>(gap);
    }
    return due_;
}

}  // namespace framewire
