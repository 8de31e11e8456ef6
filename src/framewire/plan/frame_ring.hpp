#pragma once

#include "framewire/core/time.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/plan/statistics.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>

namespace framewire {

/// The work of each stage on the slot with a given number, from 0 to slots - 1. The caller owns what a slot
/// holds, usually an element of a vector. A slot belongs to one stage at a time, and a stage runs on one
/// thread.
struct FrameRingStages {
    /// Fills the slot and its time; returns false if there is no further frame. An exception ends the run after
    /// the frames before it have been sent.
    std::function<bool(int slot, FrameTime& time)> capture;
    /// Optional. Called on the capture thread after a capture. Return false to process the frame (including
    /// `wait`) without sending or counting it. Default: every frame is sent.
    std::function<bool(int slot)> sends{};
    /// Optional. Called before `send`. Returns true if processing failed for this frame only, which is then
    /// neither sent nor counted. Default: no frame fails alone.
    std::function<bool(int slot)> failed{};
    /// Processes the slot. An exception ends the run after the frames processed before it have been sent.
    std::function<void(int slot, const FrameTime& time)> process;
    /// Optional. Called before `send`; returns when the work that `process` started is done. Runs on the thread
    /// of `send`, or on the worker threads of FrameRingOptions::workers, for several frames at once. Not needed if
    /// `process` finishes its work itself. An exception ends the run after the frames before it have been sent.
    std::function<void(int slot)> wait{};
    /// Sends the slot. An exception ends the run; nothing is sent after it.
    std::function<void(int slot, const FrameTime& time)> send;
};

/// Options of run_frame_ring().
struct FrameRingOptions {
    /// Number of slots, at least 3 more than `waiting`, so that capture never waits for a slow viewer of a live
    /// source: one slot is being captured, one processed, `waiting` slots wait to be sent, and one is being
    /// sent; the others wait to be processed.
    int slots = 6;
    /// Number of processed frames that may wait to be sent before processing blocks. Larger if `process` only
    /// starts work, so that this many frames are in flight.
    int waiting = 1;
    /// Worker threads that run `wait`, each for one frame; 0: `wait` runs on the thread of `send`.
    int workers = 0;
    /// Size of a frame as sent, for the statistics.
    std::int64_t raw_frame_bytes = 0;
    /// For live sources: if no slot is free, the oldest frame that waits to be processed is dropped and
    /// counted. Otherwise capture waits and no frame is ever dropped.
    bool drop_when_late = false;
    /// With drop_when_late: frames are dropped only if they are captured this much later than their own times
    /// say, relative to the frame that was captured soonest. Until then capture waits, and frames wait in their
    /// source.
    double patience_seconds = 0;
    /// Pass frames on no sooner than their own times say, instead of as soon as they are captured.
    bool at_source_rate = false;
    /// End the run after this many frames that were not dropped.
    std::optional<std::int64_t> max_frames;
    /// Lets `frames` frames wait to be sent, and adds as many slots.
    FrameRingOptions& let_wait(int frames) {
        slots += frames - waiting;
        waiting = frames;
        return *this;
    }
    /// Requesting a stop ends the run after the captured frames have been sent: a source that watches it stops
    /// waiting; a sink continues as long as someone takes its data. The ring requests the stop itself if a
    /// stage throws.
    std::stop_source stop;
};

/// Returns how many frames a backend should have in flight between `process` and `send`: on CUDA one is
/// uploaded, one is processed and one is downloaded at the same time (the streams of the HOG report, section
/// 8). On the CPU all threads work on one frame, unless there are workers.
constexpr int frames_under_way(Backend backend) { return backend == Backend::cuda ? 3 : 1; }

/// The frame ring (streaming report, section 2.1): captures, processes and sends at the same time, in order,
/// over reused slots. Capture, processing and workers run on their own threads, sending on the calling thread.
/// Allocates before the first frame only. Returns when everything is sent and the threads have ended, and only
/// then rethrows the first exception of a stage. Throws Error{usage} if there are too few slots or workers, if
/// `waiting` is 0, or if the limit of frames is below 1.
void run_frame_ring(const FrameRingStages& stages, const FrameRingOptions& options, Statistics& statistics);

/// Computes when a frame is due if a source is played at its own rate. Times in files are unreliable: a frame
/// whose time stands still or goes back, as in a repeated file, is due at once, and no gap delays a frame by
/// more than `longest_gap`.
class Pacer {
public:
    /// A gap between two frames delays the second by at most this.
    static constexpr std::chrono::seconds longest_gap{5};
    /// A player that is later than this does not try to catch up.
    static constexpr std::chrono::seconds longest_lag{1};

    /// Returns when the frame with presentation time `seconds` is due. `now` must not decrease from call to
    /// call.
    Clock::time_point due(double seconds, Clock::time_point now);

private:
    bool started_ = false;
    double seconds_ = 0;
    Clock::time_point due_{};
};

}  // namespace framewire
