#pragma once

#include "framewire/core/time.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/plan/statistics.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>

namespace framewire {

/// Work of each stage on a slot, identified by its number from 0 to slots - 1. The caller owns the contents of the
/// slots, usually as elements of a vector. A slot belongs to one stage at a time, and each stage runs on one thread.
struct FrameRingStages {
    /// Fills the slot and sets its time. Returns false if there is no further frame. If it throws, the run ends after
    /// the frames before have been sent.
    std::function<bool(int slot, FrameTime& time)> capture;
    /// Optional. Called on the capture thread after a capture. Returns false if the frame is to be processed (including
    /// `wait`) but neither sent nor counted. Default: every frame is sent.
    std::function<bool(int slot)> sends{};
    /// Optional. Called before `send`. Returns true if processing failed for this frame only; the frame is then neither
    /// sent nor counted. Default: a failure of one frame ends the run.
    std::function<bool(int slot)> failed{};
    /// Processes the slot. If it throws, the run ends after the frames processed before have been sent.
    std::function<void(int slot, const FrameTime& time)> process;
    /// Optional. Called before `send`; returns when the work that `process` started is done. Runs on the thread of
    /// `send`, or on the worker threads of FrameRingOptions::workers, for several frames in parallel. Not needed if
    /// `process` finishes its work itself. If it throws, the run ends after the frames before have been sent.
    std::function<void(int slot)> wait{};
    /// Sends the slot. If it throws, the run ends and nothing more is sent.
    std::function<void(int slot, const FrameTime& time)> send;
};

/// Options of run_frame_ring().
struct FrameRingOptions {
    /// Number of slots, at least 3 more than `waiting`, so that capture of a live source never waits for a slow viewer:
    /// one slot is being captured, one is being processed, `waiting` slots wait to be sent, and one is being sent.
    /// Further slots wait to be processed.
    int slots = 6;
    /// Number of processed frames that may wait to be sent before processing blocks. A larger number suits a `process`
    /// that only starts work: that many frames are then in flight.
    int waiting = 1;
    /// Number of worker threads that run `wait`, each for one frame; 0: `wait` runs on the thread of `send`.
    int workers = 0;
    /// Size of a sent frame as raw pixels, for the statistics.
    std::int64_t raw_frame_bytes = 0;
    /// For live sources. If true and no slot is free, the oldest frame that waits to be processed is dropped and
    /// counted. If false, capture waits, and no frame is ever dropped.
    bool drop_when_late = false;
    /// Requires drop_when_late. Frames are dropped only if they are captured at least this much later than their own
    /// times say, relative to the frame that was captured with the least delay. Until then capture waits, and frames
    /// wait in their source.
    double patience_seconds = 0;
    /// If true, frames are passed on no earlier than their own times; otherwise as soon as they are captured.
    bool at_source_rate = false;
    /// Optional. The run ends after this many frames, not counting dropped ones. Default: no limit.
    std::optional<std::int64_t> max_frames;
    /// Sets `waiting` to `frames` and changes the number of slots by the same amount.
    FrameRingOptions& let_wait(int frames) {
        slots += frames - waiting;
        waiting = frames;
        return *this;
    }
    /// Source of stop requests. A stop request ends the run after the captured frames have been sent: a source that
    /// observes the token stops waiting, and a sink continues as long as someone takes its data. The ring itself
    /// requests a stop if a stage throws.
    std::stop_source stop;
};

/// Returns how many frames should be in flight between `process` and `send` on a backend. On CUDA one frame is
/// uploaded, one is processed and one is downloaded at the same time (the streams of the HOG report, section 8). On the
/// CPU all threads work on one frame, unless there are workers.
constexpr int frames_under_way(Backend backend) { return backend == Backend::cuda ? 3 : 1; }

/// Runs the frame ring (streaming report, section 2.1): captures, processes and sends in parallel, in frame order, over
/// reused slots. Capture, processing and workers have their own threads; sending runs on the calling thread. Allocates
/// only before the first frame. Returns when all frames have been sent and the threads have ended, and only then
/// rethrows the first exception of a stage. Throws Error{usage} if there are too few slots or workers, if `waiting` is
/// 0, or if the limit of frames is below 1.
void run_frame_ring(const FrameRingStages& stages, const FrameRingOptions& options, Statistics& statistics);

/// Computes when a frame is due if a source is played at its own rate. Times in files are unreliable: a frame whose
/// time does not advance, as in a repeated file, is due at once, and no gap delays a frame by more than `longest_gap`.
class Pacer {
public:
    /// Maximum delay between two consecutive frames.
    static constexpr std::chrono::seconds longest_gap{5};
    /// Maximum delay that playback tries to catch up with.
    static constexpr std::chrono::seconds longest_lag{1};

    /// Returns when the frame with presentation time `seconds` is due. `now` must not decrease between calls.
    Clock::time_point due(double seconds, Clock::time_point now);

private:
    bool started_ = false;
    double seconds_ = 0;
    Clock::time_point due_{};
};

}  // namespace framewire
