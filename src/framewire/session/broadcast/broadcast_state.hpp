#pragma once

#include "framewire/delta/packing/packing.hpp"
#include "framewire/media/fwd/recorder.hpp"
#include "framewire/net/stream/stream_state.hpp"
#include "framewire/pipeline/frames/encoders/bounded_encoder.hpp"
#include "framewire/pipeline/frames/encoders/stream_encoder.hpp"
#include "framewire/session/broadcast/broadcast.hpp"
#include "framewire/session/broadcast/threshold_in_force.hpp"
#include "framewire/session/detector.hpp"
#include "framewire/session/input/filtered_input.hpp"
#include "framewire/session/job/frame_job.hpp"
#include "framewire/session/live/parts/live_parts.hpp"
#include "framewire/session/live/parts/orders_in_force.hpp"
#include "framewire/session/refresh/sharpening.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace framewire::session {

/// Per-frame results of a broadcast: what changed, and which objects move. One object per slot of the frame ring,
/// reused; it belongs to one stage at a time.
struct BroadcastFound {
    /// Stream that the frame is sent on. Not owned.
    const net::StreamState* stream;
    /// Threshold with which the frame is compared with R.
    int threshold;
    /// Recorder of the whole broadcast; null if there is none. Not owned.
    const fwd::Recorder* recorder;
    /// Differences from R in exact and lossless mode; empty in bounded mode, which encodes in order while sending.
    FrameChanges changes;
    /// Objects that the detector found; meaningful if `has_objects`.
    FrameObjects objects;
    /// True if the detector looked at this frame.
    bool has_objects;
    /// Recording that was started while the stream is sent; null if there is none.
    std::shared_ptr<LiveRecording> live{};
    /// Packs `changes`; empty in bounded mode, which packs frames in their order.
    std::optional<delta::Packer> packer;
    /// Refinement of the frame; empty if nothing is refined or the mode is bounded.
    std::optional<PackedSharper> sharper;
    /// The packed changes; empty unless a viewer or a recording takes them.
    std::vector<std::uint8_t> packed{};

    /// Waits until changes and objects are complete, and packs the changes if a viewer or a recording takes them.
    /// Called on the worker pool, for several frames in parallel.
    void wait();
};

/// State of a running broadcast. The functions that work on single frames are in broadcast_frames.cpp.
///
/// Three threads and a pool share it. start() runs on the processing thread and send() on the thread that called run(),
/// both in frame order; BroadcastFound::wait() runs on the worker pool. Every frame's data move from one to the next
/// through the frame ring, so they need no locks. `threshold`, `parts` and `in_force` lock for themselves, because
/// control requests reach them from any thread.
///
///     BroadcastFound   start() writes   -> wait() packs -> send() reads
///     encoder, R       start() in exact and lossless mode; send() in bounded mode
///     stream           send() advances it; network threads read it
struct BroadcastJob::State {
    // Opens everything in the order of the members: the input, the encoder's parts, the recording, and the listener
    // last.
    explicit State(const BroadcastOptions& options);

    // Returns the shared listener, or opens one of the job's own after the stream's name was checked.
    net::Listener& listener(const BroadcastOptions& options);
    // Returns the handler for viewers' control requests; null if they are not allowed.
    net::Control control_for_viewers(const BroadcastOptions& options);
    // Describes the stream for viewers.
    net::StreamInfo stream_info() const;
    // Runs the frame ring until the source ends; fills `result`.
    void run();
    // Makes the results object of one slot.
    BroadcastFound make_found();
    // Processing thread: starts the detector and, in exact and lossless mode, the comparison with R and the refinement.
    void start(InputFrame& frame, const FrameTime& time, BroadcastFound& found);
    // Describes the present moment to the sharpener: time, threshold, bytes left by rate control and bytes of the
    // stream without refinements.
    delta::RestSharpener::Moment moment(const FrameTime& time, int within) {
        return {time.seconds, within, threshold.room_bytes(),
                static_cast<double>(stream.counts().up_to_date_bytes - sharpened_bytes)};
    }
    // Sends a refinement, if there is one, as one more version of the same frame.
    void send_sharper(const PackedSharper& sharper, const FrameTime& time, std::span<const Component> objects,
                      int within);
    // Sending thread: sends one frame to the stream, the recordings and `seen`, and reports its bytes to rate control.
    void send(InputFrame& frame, const FrameTime& time, const BroadcastFound& found);
    // Exact and lossless mode: sends the keyframe or delta frame that start() found.
    void send_changes(const FrameTime& time, const BroadcastFound& found, std::span<const Component> objects);
    // Bounded mode: decides whether the encoder packs a delta frame, a keyframe or nothing.
    BoundedEncoder::Packs packed_of(const FrameTime& time, const LiveRecording* live_one) const;
    // Bounded mode: encodes and sends a frame. Returns its threshold.
    int send_bounded(InputFrame& frame, const FrameTime& time, const BroadcastFound& found,
                     std::span<const Component> objects);
    // Returns the threshold for a frame; 0 if it must replace R exactly.
    int threshold_of(const InputFrame& frame, const FrameTime& time);
    // Returns a ticket for the requests taken so far.
    OrderTicket ticket() const;
    // Carries out a viewer's control request and waits until it is in force.
    void obey_viewer(const std::string& wish);
    // Adds a frame to the recording of the whole broadcast.
    void record(std::span<const std::uint8_t> packed, const FrameTime& time, int within);
    // Adds a frame to a recording that was started while the stream is sent.
    void record_live(const BroadcastFound& found, std::span<const std::uint8_t> packed, const FrameTime& time,
                     int within);
    // Returns the objects that count, at their positions in the sent frame.
    std::span<const Component> seen_by_viewers(const FrameObjects& objects);
    // Returns the header data of a recording.
    fwd::Recording recording_facts() const;
    // Opens the recording of the whole broadcast; null if there is none.
    std::unique_ptr<fwd::Recorder> make_recorder(const BroadcastOptions& options);
    // Returns true until writing that recording failed.
    bool records() const { return recorder && recorder->goes_on(); }
    // Snapshot of the state, for queries.
    BroadcastStanding standing() const;
    // Applies privacy masks and detection areas from the next frame on.
    void set_zones(const std::vector<LiveZone>& zones);
    // Starts a recording with the next frame.
    void start_recording(const std::string& path);
    // Completes stream, recordings and statistics, and ends the wait of pending requests.
    void finish(FirstFailure& failure, Ending ending);

    int asked_packing_threads, wait_for_viewers;
    bool hurries;
    FrameJob<FilteredInput> job;
    delta::EncoderParameters parameters;
    std::optional<double> refresh_seconds;
    ThresholdInForce threshold;
    // shape of the frames that are sent
    Shape shape;
    std::optional<StreamEncoder> encoder;
    // exactly one of `encoder` and `bounded` is set
    std::optional<BoundedEncoder> bounded;
    std::optional<delta::RestSharpener> sharpener;
    // Refinement of a bounded stream runs on the sending thread, so one packer is enough.
    struct BoundedSharper {
        PackedSharper sharper;
        delta::Packer packer;
    };
    // set if a bounded stream is refined
    std::optional<BoundedSharper> bounded_sharper;
    std::unique_ptr<FrameDetector> detector;
    SeenObjects* seen;
    std::function<void()> keep_orders;
    net::StreamState stream;
    std::unique_ptr<fwd::Recorder> recorder;
    // bytes of refinements on the wire
    std::atomic<std::int64_t> sharpened_bytes = 0;
    // objects of one frame: those that count, and those at the positions to which filters move them
    std::vector<Component> counted, moved;
    LiveParts parts;
    std::shared_ptr<OrdersInForce> in_force = std::make_shared<OrdersInForce>();
    std::optional<net::Listener> own_listener;
    net::ServedStream served;
    // bytes sent by earlier jobs that share these statistics
    std::int64_t sent_before;
    BroadcastResult result;
};

}  // namespace framewire::session
