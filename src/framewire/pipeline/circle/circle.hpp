#pragma once

#include "framewire/core/time/frame_time.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/pipeline/statistics/statistics.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>

namespace framewire {

/// What each stage does with the slot of a given number, 0 to slots-1. What a slot holds is the caller's: usually an
/// element of a vector made before. A slot belongs to one stage at a time, a stage to one thread.
struct CircleStages {
    /// Fills the slot and its time; false when there is no further frame. An exception ends the run after the frames
    /// before it were sent.
    std::function<bool(int slot, FrameTime& time)> capture;
    /// Whether the frame that was just captured is to be sent, and counted; one that is not goes as far as wait. None:
    /// all are. On the thread of capture.
    std::function<bool(int slot)> sends{};
    /// Asked before send: whether processing failed for this frame alone, which is then neither sent nor counted. None:
    /// no frame fails so.
    std::function<bool(int slot)> failed{};
    /// An exception ends the run after the frames processed before it were sent.
    std::function<void(int slot, const FrameTime& time)> process;
    /// Before send: returns when what process began is over, with what can be done for several frames at once. On the
    /// thread of send, or on those that CircleOptions::waiters asks for. None where process ends it itself. An
    /// exception ends the run after the frames before it were sent.
    std::function<void(int slot)> wait{};
    /// An exception ends the run; nothing is sent after it.
    std::function<void(int slot, const FrameTime& time)> send;
};

struct CircleOptions {
    /// At least 3 and `waiting`, so that capture never waits for a live source's slow viewer: one slot is being
    /// captured, one processed, `waiting` wait to be sent, one is being sent; the rest wait to be processed.
    int slots = 6;
    /// How many processed frames wait to be sent before the next one waits in its process; more where process only
    /// begins the work, so that so many are under way.
    int waiting = 1;
    /// Threads that `wait` runs on, for so many frames at once; 0: on the thread of send.
    int waiters = 0;
    /// Size of a frame as sent, for the statistics.
    std::int64_t raw_frame_bytes = 0;
    /// For a live source: when no slot is free, the oldest frame waiting to be processed is dropped and counted.
    /// Otherwise capture waits and nothing is ever dropped.
    bool drop_when_late = false;
    /// With drop_when_late: nothing is dropped before frames are captured so much later than their own times say,
    /// beside the frame that was captured soonest. Until then capture waits, and frames wait in their source.
    double patience_seconds = 0;
    /// Hand frames on no sooner than their own times say, instead of as soon as they are there.
    bool at_source_rate = false;
    /// End after so many frames that were not dropped.
    std::optional<std::int64_t> max_frames;
    /// Lets `frames` wait to be sent, with as many slots more.
    CircleOptions& let_wait(int frames) {
        slots += frames - waiting;
        waiting = frames;
        return *this;
    }
    /// Stopping ends the run after the frames already captured were sent: a source that watches it stops waiting, a
    /// sink goes on for as long as someone takes its data. The circle requests the stop itself when a stage throws.
    std::stop_source stop;
};

/// How many frames suit a backend between process and send: on CUDA one comes up, one is worked on and one goes down
/// at the same time (the streams of the HOG report, section 8). The CPU's threads share a frame, but for waiters.
constexpr int frames_under_way(Backend backend) { return backend == Backend::cuda ? 3 : 1; }

/// The report's circle (streaming report, section 2.1): captures, processes and sends at the same time, in order, over
/// reused slots; capture, process and waiters on threads of their own, send on the calling thread. Allocates
/// before the first frame only. Returns when all is sent and the threads have ended; throws the first exception of a
/// stage, then too. Throws Error{usage} on too few slots or waiters, or where nothing may wait or the limit
/// is below 1 frame.
void run_circle(const CircleStages& stages, const CircleOptions& options, Statistics& statistics);

}  // namespace framewire
