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

/// What changed in a frame of a broadcast, and what moves in it.
struct BroadcastFound {
    const net::StreamState* stream;
    int threshold;
    const fwd::Recorder* recorder;  ///< none: nothing is recorded
    FrameChanges changes;
    FrameObjects objects;
    bool has_objects;
    std::shared_ptr<LiveRecording> live{};  ///< likewise
    std::optional<delta::Packer> packer;    ///< none in the mode bounded, which packs frames in their order
    std::optional<PackedSharper> sharper;   ///< none: nothing is sharpened, or the mode is bounded
    std::vector<std::uint8_t> packed{};     ///< the changes, where somebody watches

    /// Waits until both were found, and packs the changes where somebody takes them.
    void wait();
};

/// What a broadcast has while it runs; its functions for single frames are in broadcast_frames.cpp.
struct BroadcastJob::State {
    explicit State(const BroadcastOptions& options);

    net::Listener& listener(const BroadcastOptions& options);
    net::Control control_for_viewers(const BroadcastOptions& options);
    net::StreamInfo stream_info() const;
    void run();
    BroadcastFound make_found();
    void start(InputFrame& frame, const FrameTime& time, BroadcastFound& found);
    delta::RestSharpener::Moment moment(const FrameTime& time, int within) {
        return {time.seconds, within, threshold.room_bytes(),
                static_cast<double>(stream.counts().up_to_date_bytes - sharpened_bytes)};
    }
    void send_sharper(const PackedSharper& sharper, const FrameTime& time, std::span<const Component> objects,
                      int within);
    void send(InputFrame& frame, const FrameTime& time, const BroadcastFound& found);
    void send_changes(const FrameTime& time, const BroadcastFound& found, std::span<const Component> objects);
    BoundedEncoder::Packs packed_of(const FrameTime& time, const LiveRecording* live_one) const;
    int send_bounded(InputFrame& frame, const FrameTime& time, const BroadcastFound& found,
                     std::span<const Component> objects);
    int threshold_of(const InputFrame& frame, const FrameTime& time);
    OrderTicket ticket() const;
    void obey_viewer(const std::string& wish);
    void record(std::span<const std::uint8_t> packed, const FrameTime& time, int within);
    void record_live(const BroadcastFound& found, std::span<const std::uint8_t> packed, const FrameTime& time,
                     int within);
    std::span<const Component> seen_by_viewers(const FrameObjects& objects);
    fwd::Recording recording_facts() const;
    std::unique_ptr<fwd::Recorder> make_recorder(const BroadcastOptions& options);
    bool records() const { return recorder && recorder->goes_on(); }
    BroadcastStanding standing() const;
    void set_zones(const std::vector<LiveZone>& zones);
    void start_recording(const std::string& path);
    void finish(FirstFailure& failure, Ending ending);

    int asked_packing_threads, wait_for_viewers;
    bool hurries;
    FrameJob<FilteredInput> job;
    delta::EncoderParameters parameters;
    std::optional<double> refresh_seconds;
    ThresholdInForce threshold;
    Shape shape;  // of the stream's pictures
    std::optional<StreamEncoder> encoder;
    std::optional<BoundedEncoder> bounded;  // one of the two
    std::optional<delta::RestSharpener> sharpener;
    struct BoundedSharper {
        PackedSharper sharper;
        delta::Packer packer;
    };
    std::optional<BoundedSharper> bounded_sharper;  // where a bounded stream is sharpened
    std::unique_ptr<FrameDetector> detector;
    SeenObjects* seen;
    std::function<void()> keep_orders;
    net::StreamState stream;
    std::unique_ptr<fwd::Recorder> recorder;
    std::atomic<std::int64_t> sharpened_bytes = 0;  // on the wire
    std::vector<Component> counted, moved;          // objects of one frame: those that count; where filters take them
    LiveParts parts;
    std::shared_ptr<OrdersInForce> in_force = std::make_shared<OrdersInForce>();
    std::optional<net::Listener> own_listener;
    net::ServedStream served;
    std::int64_t sent_before;  // bytes, by jobs whose figures these go on with
    BroadcastResult result;
};

}  // namespace framewire::session
