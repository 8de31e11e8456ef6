// Per-frame work of a broadcast: what changed, packing, sending, refining and recording.
#include "framewire/pipeline/frames/moved_objects.hpp"
#include "framewire/session/broadcast/broadcast_state.hpp"

#include <algorithm>
#include <utility>

namespace framewire::session {

// Packs only if somebody takes the result: a viewer, the recorder or a live recording.
void BroadcastFound::wait() {
    if (packer) {
        changes.wait();
        packed.clear();
        if (!changes.first() && (stream->watched() || (recorder && recorder->goes_on()) || live))
            packer->pack_changes(changes.changes(), threshold, packed);
        if (sharper) sharper->pack(*packer);
    }
    if (has_objects) objects.wait();
}

BroadcastFound BroadcastJob::State::make_found() {
    BroadcastFound found{&stream,
                         0,
                         recorder.get(),
                         encoder ? encoder->make_changes() : FrameChanges(),
                         detector ? detector->make_objects() : FrameObjects(),
                         false,
                         nullptr,
                         std::nullopt,
                         std::nullopt};
    if (encoder) found.packer.emplace(shape);
    if (encoder && sharpener) found.sharper.emplace(shape, job.input().executor());
    return found;
}

void BroadcastJob::State::start(InputFrame& frame, const FrameTime& time, BroadcastFound& found) {
    found.live = parts.recording();
    found.has_objects = detector && frame.signal;
    if (found.has_objects) detector->start(frame.captured, found.objects);
    if (!encoder) return;
    found.threshold = threshold_of(frame, time);
    // A stream that is being recorded live is not refined: a file holds one state per frame.
    const bool sharpens = sharpener && stream.watched() && !found.live && !frame.replaces;
    encoder->start(frame.result(), found.changes, found.threshold);
    if (!sharpener) return;
    found.sharper->step.clear();
    if (sharpens)
        encoder->sharpen(frame.result(), found.changes, *sharpener, moment(time, found.threshold), found.sharper->step);
    else
        sharpener->begin_anew();
}

// Objects are found in frames as captured and sent at the positions to which the filters move them.
std::span<const Component> BroadcastJob::State::seen_by_viewers(const FrameObjects& found) {
    parts.count(found.objects(), counted);
    auto objects = std::span<const Component>(counted);
    objects = objects.first(std::min(objects.size(), net::max_objects));
    const auto& placement = job.input().placement();
    if (placement == PlaneMap{}) return objects;
    move_objects(objects, placement, shape, moved);
    return moved;
}

// Runs on the sending thread, in frame order.
void BroadcastJob::State::send(InputFrame& frame, const FrameTime& time, const BroadcastFound& found) {
    const bool first = stream.counts().version == 0;
    parts.note_frame(frame.signal, first);
    const auto objects = found.has_objects ? seen_by_viewers(found.objects) : std::span<const Component>();
    const auto bytes_before = stream.counts().step_bytes;
    int within = found.threshold;
    if (frame.replaces) stream.withdraw_before_next();
    if (bounded)
        within = send_bounded(frame, time, found, objects);
    else
        send_changes(time, found, objects);
    served.publish();
    in_force->note_sent(frame.orders);
    // The viewers that the first frame waited for must start with it, however long encoding and sending takes.
    if (first && wait_for_viewers > 0) served.wait_for_first_states(wait_for_viewers, job.stop());
    if (seen && found.has_objects) seen->seen({time, shape, objects});
    threshold.took(time.seconds, within, stream.counts().step_bytes - bytes_before, job.statistics());
    job.statistics().set_sent_bytes(sent_before + stream.counts().up_to_date_bytes);
}

// Exact and lossless modes: the first frame is sent as a keyframe, each later one as the delta frame that start()
// found.
void BroadcastJob::State::send_changes(const FrameTime& time, const BroadcastFound& found,
                                       std::span<const Component> objects) {
    if (found.changes.first()) {
        stream.start(encoder->first_picture(), time, objects, {}, found.threshold);
        if (records())
            recorder->add_picture(time, found.threshold,
                                  [&](auto picture) { copy(encoder->first_picture(), picture); });
        record_live(found, {}, time, found.threshold);
        job.statistics().add_first_picture(shape.frame_bytes());
        return;
    }
    const auto& changes = found.changes.changes();
    stream.advance(changes, time, objects, found.packed, found.threshold);
    if (records()) record(found.packed, time, found.threshold);
    record_live(found, found.packed, time, found.threshold);
    if (found.sharper) send_sharper(*found.sharper, time, objects, found.threshold);
    job.statistics().add_delta(changes.summaries[0], shape.frame_bytes());
}

// Sends a refinement as one more version of the same frame.
void BroadcastJob::State::send_sharper(const PackedSharper& sharper, const FrameTime& time,
                                       std::span<const Component> objects, int within) {
    if (sharper.step.empty()) return;
    const auto before = stream.counts().up_to_date_bytes;
    stream.advance(sharper.step.changes(), time, objects, sharper.packed, within);
    sharpened_bytes += stream.counts().up_to_date_bytes - before;
    sharpener->took(sharper.step, std::ssize(sharper.packed));
}

// Decides the form in which a bounded frame is packed. While there is no viewer that would have to receive it too, a
// recording's keyframe is encoded from the camera's frame; storing R itself takes more than twice as many bytes.
BoundedEncoder::Packs BroadcastJob::State::packed_of(const FrameTime& time, const LiveRecording* live_one) const {
    using enum BoundedEncoder::Packs;
    if (stream.watched()) return step;
    if (!records() && !live_one) return nothing;
    const bool wanted = (records() && recorder->wants_picture(time)) || (live_one && live_one->wants_picture(time));
    return wanted ? picture : step;
}

// Returns the threshold of the frame. The first frame made with a request that changes what may be seen replaces R
// exactly (threshold 0): within a threshold of black, dark people would stay visible.
int BroadcastJob::State::threshold_of(const InputFrame& frame, const FrameTime& time) {
    const int within = threshold.next(time.seconds);
    return frame.replaces ? 0 : within;
}

// Bounded mode: encodes the frame against R in order, sends it and refines it. Returns the threshold of the frame.
int BroadcastJob::State::send_bounded(InputFrame& frame, const FrameTime& time, const BroadcastFound& found,
                                      std::span<const Component> objects) {
    auto& camera = frame.result();
    const bool first = stream.counts().version == 0;
    const int within = threshold_of(frame, time);
    auto outcome = bounded->encode(camera, packed_of(time, found.live.get()), within);
    if (outcome.whole)
        stream.start(bounded->reference(), time, objects, outcome.packed, within);
    else
        stream.advance(bounded->reference(), outcome.packed, time, objects, within);
    if (records()) record(outcome.packed, time, within);
    record_live(found, outcome.packed, time, within);
    if (sharpener && stream.watched() && !found.live && !frame.replaces) {
        auto& [sharper, packer] = *bounded_sharper;
        bounded->sharpen(camera, outcome, *sharpener, moment(time, within), sharper.step);
        sharper.pack(packer);
        send_sharper(sharper, time, objects, within);
    } else if (sharpener) {
        sharpener->begin_anew();
    }
    if (first)
        job.statistics().add_first_picture(shape.frame_bytes());
    else
        job.statistics().add_delta(outcome.found, shape.frame_bytes());
    return within;
}

// Records the frame that was just sent: the bytes that viewers receive or, when a keyframe is due, R as a keyframe.
void BroadcastJob::State::record(std::span<const std::uint8_t> packed, const FrameTime& time, int within) {
    if (!packed.empty() && (fwd::is_picture(packed) || !recorder->wants_picture(time)))
        return recorder->add(packed, time);
    recorder->add_picture(time, within, [this](auto picture) { stream.copy_reference(picture); });
}

// Does the same for a recording that was started while the stream is sent.
void BroadcastJob::State::record_live(const BroadcastFound& found, std::span<const std::uint8_t> packed,
                                      const FrameTime& time, int within) {
    if (found.live) found.live->add(packed, time, within, [this](auto picture) { stream.copy_reference(picture); });
}

}  // namespace framewire::session
