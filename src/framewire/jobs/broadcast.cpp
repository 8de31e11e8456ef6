#include "framewire/jobs/broadcast.hpp"
#include "framewire/core/error.hpp"
#include "framewire/jobs/input/input.hpp"
#include "framewire/plan/frame_detector.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <utility>

namespace framewire::jobs {
namespace {

// Returns the input options with the defaults of a served camera: memory limits, only the newest frames, endless
// reconnection, and "no signal" pictures while the source is lost.
InputOptions shown_to_viewers(const BroadcastOptions& options) {
    auto input = options.input;
    if (!input.max_pixels) input.max_pixels = FrameLimits::served_pixels;
    if (!input.max_memory_bytes) input.max_memory_bytes = FrameLimits::served_memory_bytes();
    input.detects = options.detector.has_value();
    input.public_name = true;
    input.shows_loss = true;
    input.may_skip = true;
    if (!input.reconnect) input.reconnect = SourceOptions::for_ever;
    return input;
}

}  // namespace

BroadcastJob::State::State(const BroadcastOptions& options)
    : wait_for_viewers(options.wait_for_viewers),
      hurries(options.hurries),
      sound(options.input.sound),
      job(options.job, shown_to_viewers(options), files_of(options)),
      parameters(options.encoder),
      refine_seconds(refine_seconds_of(options.refine_seconds, parameters, !options.record.empty())),
      threshold(parameters, options.rate),
      shape(job.input().shape()),
      encoder(parameters, shape, job.input().executor(), refine_seconds.has_value()),
      effort(parameters.effort),
      effort_in_force(parameters.effort),
      detector(options.detector ? make_detector(*options.detector, job.input().info().shape, job.input().rate(),
                                                job.input().executor(), job.stop())
                                : nullptr),
      seen(options.seen),
      persist_settings(options.persist_settings),
      stream(stream_info(), encoder.reference()),
      recorder(make_recorder(options)),
      clips(make_clips(options)),
      motion_after_frames(options.motion_after_frames),
      served(listener(options).add(options.server.stream, stream, control_for_viewers(options))),
      sent_before(job.statistics().snapshot().sent_bytes) {
    if (refine_seconds) refinement.emplace(shape, *refine_seconds, parameters.threshold, job.input().executor());
    threshold.set_frame_rate(stream.info().rate.value());
    if (parameters.mode == codec::Mode::bounded) {
        job.statistics().set_effort(effort);
        // Statistics may contain the dropped frames of earlier jobs.
        if (job.input().info().live) fallback.emplace(effort, job.statistics().drops());
    }
    if (detector) {
        counted.reserve(net::max_objects);
        moved.reserve(net::max_objects);
        moved_tracks.reserve(net::max_objects);
        const auto& source = job.input().info().shape;
        if (const auto& tracking = options.detector->tracker) tracker.emplace(*tracking, source.width, source.height);
        if (!hurries && has_faster_background(*options.detector)) lag.emplace(job.statistics().drops());
    }
    set_zones(service::zones_on(options.zones, job.input().info().shape));
    if (!options.event_zones.empty()) parts.take_event_zones(options.event_zones);
}

net::Listener& BroadcastJob::State::listener(const BroadcastOptions& options) {
    if (options.listener) return *options.listener;
    // checked before a listener is created
    net::validate_stream_name(options.server.stream);
    return own_listener.emplace(options.server, job.stop());
}

net::Control BroadcastJob::State::control_for_viewers(const BroadcastOptions& options) {
    if (!options.input.accepts_control) return nullptr;
    return [this](const std::string& control_request) {
        if (!control_request.empty()) obey_viewer(control_request);
        return to_json(job.input().controls());
    };
}

// Carries out a viewer's control request. Returns once a frame made with the request has been sent or the stream has
// ended.
void BroadcastJob::State::obey_viewer(const std::string& control_request) {
    job.input().control(service::parse_control(control_request));
    // If the job ends first, the next job starts with the request in force, so this is not an error.
    if (ticket().wait() == RequestsInForce::Outcome::late) fail(ErrorCode::config, "{}", late_request_text);
    if (persist_settings) persist_settings();
}

RequestTicket BroadcastJob::State::ticket() const {
    const auto requests = job.input().requests_to_await();
    return requests ? RequestTicket{in_force, *requests} : RequestTicket{};
}

// Describes the stream for viewers. The wire format limits the terms of a rate to 1 .. net::max_rate_term; any other
// rate is announced as 30 frames/s.
net::StreamInfo BroadcastJob::State::stream_info() const {
    auto rate = job.input().rate();
    const auto term_allowed = [](std::int64_t term) { return term >= 1 && term <= net::max_rate_term; };
    if (!term_allowed(rate.numerator) || !term_allowed(rate.denominator)) rate = {30, 1};
    return {shape, parameters.mode, threshold.greatest(), rate, public_name(job.input().info().name)};
}

// Runs the stages of the frame ring: start() begins detection in the frame, and send() encodes and publishes it.
void BroadcastJob::State::run() {
    job.run<BroadcastFound>(
        {.wanted = {.by_stages = true, .captured = detector != nullptr},
         .at_source_rate = !job.input().info().live && !hurries,
         .outlives_gpu = true,
         .begin = [this] { return wait_for_viewers == 0 || served.wait_for_viewers(wait_for_viewers, job.stop()); },
         .make = [this] { return make_found(); },
         .start = [this](InputFrame& frame, const FrameTime&, BroadcastFound& found) { start(frame, found); },
         .send = [this](InputFrame& frame, const FrameTime& time, BroadcastFound& found) { send(frame, time, found); },
         .finish = [this](FirstFailure& failure, Ending ending) { finish(failure, ending); }},
        result);
}

fwd::Recording BroadcastJob::State::recording_facts() const {
    return {.shape = shape,
            .mode = parameters.mode,
            .threshold = threshold.greatest(),
            .rate = job.input().rate(),
            .pixel_aspect = job.sink_options().facts.pixel_aspect,
            .live = job.input().info().live};
}

std::unique_ptr<fwd::Recorder> BroadcastJob::State::make_recorder(const BroadcastOptions& options) {
    if (options.record.empty()) return nullptr;
    const auto call = fwd::parse_record(options.record);
    return std::make_unique<fwd::Recorder>(call.path, recording_facts(), call.key_seconds,
                                           job.sink_options().file_options(), job.input().executor().pool());
}

std::unique_ptr<ClipRecorder> BroadcastJob::State::make_clips(const BroadcastOptions& options) {
    if (options.clips.empty()) return nullptr;
    if (!options.detector) fail(ErrorCode::usage, "clips need a detector, which finds the events");
    auto sinks = job.sink_options();
    // A stop ends the stream, but the last clip must still be written.
    sinks.stop = {};
    sinks.encoder_threads = 1;
    sinks.live = false;
    sinks.hurry = true;
    const bool live = job.input().info().live;
    return std::make_unique<ClipRecorder>(
        parse_clips(options.clips),
        ClipRecorder::Stream{.name = options.server.stream, .shape = shape, .rate = stream.info().rate, .waits = !live},
        sinks);
}

void BroadcastJob::State::start_recording(const std::string& path) {
    parts.start_recording([&] {
        return std::make_shared<LiveRecording>(path, recording_facts(), OutputFileOptions{.stop = job.stop()},
                                               job.input().executor().pool());
    });
}

void BroadcastJob::State::set_zones(const std::vector<service::LiveZone>& zones) {
    service::check_zones(zones, job.input().info().shape);
    job.input().hide(zones);
    parts.take_zones(zones);
}

BroadcastStanding BroadcastJob::State::standing() const {
    return {.source_shape = job.input().info().shape,
            .shape = shape,
            .rate = stream.info().rate,
            .up = parts.up(),
            .reconnects = parts.reconnects(),
            .mode = parameters.mode,
            .threshold = threshold.least(),
            .threshold_max = threshold.greatest(),
            .controls = job.input().controls(),
            .plan = service::LivePlan{std::string(to_string(job.input().backend())), job.input().planned_steps()}};
}

// After a failure, viewers get the usual time to receive the last state; only a stop by the user shortens that time.
void BroadcastJob::State::finish(FirstFailure& failure, Ending ending) {
    const bool in_a_hurry = job.stopped() && !failure;
    parts.note_end();
    if (seen && watched_zones) {
        const auto events = watched_zones->end(job.input().placement());
        watched_zones->report_changes(*seen);
        if (!events.empty()) seen->seen({last_time, shape, {}, {}, events});
    }
    in_force->end();
    result.ended_at_new_size = job.input().is_at_new_size() && !job.stopped() && !failure;
    result.ended_with_gpu = job.lost_gpu() && !job.stopped() && !failure;
    result.ended_for_requests = job.input().ended_here() && !job.stopped() && !failure && !result.ended_with_gpu;
    if (own_listener) own_listener->close("the stream has ended");
    if (!result.goes_on())
        result.viewers_left =
            served.finish(in_a_hurry ? stopped_deadline : ending_deadline, failure ? "the source was lost" : "");
    result.viewers = own_listener ? own_listener->metrics() : net::ServerMetrics{served.metrics()};
    if (recorder && stream.counts().version > 0) {
        FirstFailure recording;
        recording.attempt([&] { recorder->finish(ending); });
        // If another job continues the stream, a full disk ends the recording but not the camera.
        if (result.goes_on())
            result.recording_failure = recording.what();
        else
            failure.attempt([&] { recording.rethrow(); });
    }
    parts.finish(ending);
    if (clips) finish_clips(failure);
    job.statistics().set_sent_bytes(sent_before + stream.counts().up_to_date_bytes);
}

// If a request that may hide something is not in force yet, frames that are not written are discarded, as they would be
// with the first frame after the request.
void BroadcastJob::State::finish_clips(FirstFailure& failure) {
    if (job.input().requests_to_await().value_or(0) > requests_sent) clips->withdraw();
    FirstFailure clip;
    clip.attempt([&] { clips->finish(); });
    if (result.goes_on())
        result.clip_failure = clip.what();
    else
        failure.attempt([&] { clip.rethrow(); });
}

JobFiles files_of(const BroadcastOptions& options) {
    auto files = JobFiles()
                     .source(options.input.source)
                     .sink("--record", options.record)
                     .statistics(options.job.statistics_path);
    if (options.detector) add_input_files(files, *options.detector);
    return files;
}

BroadcastJob::BroadcastJob(const BroadcastOptions& options) : state_(std::make_unique<State>(options)) {}
BroadcastJob::~BroadcastJob() = default;

const net::StreamAddress& BroadcastJob::address() const { return state_->served.address(); }
const SourceInfo& BroadcastJob::source() const { return state_->job.input().info(); }
std::shared_ptr<OpenedSource> BroadcastJob::opened() const { return state_->job.input().opened(); }
CameraControls& BroadcastJob::camera_controls() { return state_->job.input().camera_controls(); }
service::Controls BroadcastJob::controls() const { return state_->job.input().controls(); }
void BroadcastJob::control(const service::ControlRequest& request) { state_->job.input().control(request); }
BroadcastStanding BroadcastJob::standing() const { return state_->standing(); }
net::StreamMetrics BroadcastJob::viewers() const { return state_->served.metrics(); }
std::uint64_t BroadcastJob::picture_version() const { return state_->stream.version(); }
std::uint64_t BroadcastJob::oldest_picture_version() const { return state_->stream.oldest_allowed(); }
net::StateHeader BroadcastJob::copy_picture(HostView<std::uint8_t> to) const {
    return state_->stream.copy_reference(to);
}
bool BroadcastJob::take_chain(const std::string& chain) { return state_->job.input().take_chain(chain); }
bool BroadcastJob::set_threshold(int threshold) {
    if (!state_->threshold.set_least(threshold)) return false;
    state_->job.input().count_request();
    return true;
}
RequestTicket BroadcastJob::ticket() const { return state_->ticket(); }
RequestTicket BroadcastJob::first_frame() const { return {state_->in_force, 0}; }
RequestTicket BroadcastJob::next_job() const { return {state_->in_force, std::numeric_limits<std::uint64_t>::max()}; }
void BroadcastJob::set_zones(const std::vector<service::LiveZone>& zones) { state_->set_zones(zones); }
void BroadcastJob::set_event_zones(const ZoneSet& zones) {
    if (!state_->detector)
        fail(ErrorCode::config, "the camera has no detector, which event zones need; serve it with --detect");
    state_->parts.take_event_zones(zones);
    state_->job.input().count_request();
}
void BroadcastJob::end_here() { state_->job.input().end_here(); }
void BroadcastJob::start_recording(const std::string& path) { state_->start_recording(path); }
void BroadcastJob::stop_recording() { state_->parts.stop_recording(); }
std::optional<service::LiveRecordingState> BroadcastJob::recording() const {
    const auto recording = state_->parts.recording();
    return recording ? std::optional(recording->state()) : std::nullopt;
}
const BroadcastResult& BroadcastJob::run() { return state_->run(), state_->result; }
const BroadcastResult& BroadcastJob::result() const { return state_->result; }
const Statistics& BroadcastJob::statistics() const { return state_->job.statistics(); }

}  // namespace framewire::jobs

// Per-frame work of a broadcast: detecting, encoding, sending, refining and recording.

namespace framewire::jobs {

BroadcastFound BroadcastJob::State::make_found() const {
    return {.objects = detector ? detector->make_objects() : FrameObjects()};
}

void BroadcastJob::State::start(InputFrame& frame, BroadcastFound& found) {
    found.live = parts.recording();
    found.has_objects = detector && frame.signal;
    if (found.has_objects) detector->start(frame.captured, found.objects);
}

// Objects are detected in frames as captured and sent at the positions to which the filters move them.
std::span<const Component> BroadcastJob::State::seen_by_viewers(const FrameObjects& found) {
    parts.count(found.objects(), counted);
    counted.resize(std::min(counted.size(), net::max_objects));
    const auto& placement = job.input().placement();
    if (placement == PlaneMap{}) return counted;
    move_objects(counted, placement, shape, moved);
    return moved;
}

// The tracker works on pixels of the source, so that it follows objects beyond the edges of a crop, and zones stay in
// place when the filters change.
void BroadcastJob::State::report(const FrameTime& time, bool is_searched, std::span<const Component> objects) {
    last_time = time;
    const auto& source = job.input().info().shape;
    const auto& placement = job.input().placement();
    if (auto changed = parts.take_changed_event_zones()) {
        if (watched_zones) {
            watched_zones->set_zones(std::move(*changed));
        } else if (!changed->empty()) {
            watched_zones.emplace(*changed, source);
            if (!tracker) tracker.emplace(TrackerParameters{}, source.width, source.height);
        }
    }
    std::span<const Component> found;
    if (is_searched) found = counted;
    std::span<const Track> tracks;
    std::span<const ZoneEvent> events;
    if (tracker) tracks = tracker->update(found, time.seconds);
    if (watched_zones) {
        events = watched_zones->update(tracks, time.seconds, placement);
        if (seen) watched_zones->report_changes(*seen);
    }
    if (clips) clips->note(is_searched ? happening(events) : Happening{});
    if (!seen || (!is_searched && events.empty())) return;
    if (placement != PlaneMap{}) {
        move_tracks(tracks, found, objects, placement, shape, moved_tracks);
        tracks = moved_tracks;
    }
    seen->seen({time, shape, objects, tracks, events});
}

Happening BroadcastJob::State::happening(std::span<const ZoneEvent> events) const {
    if (watched_zones && watched_zones->any()) return {!events.empty(), watched_zones->any_inside()};
    return {!counted.empty(), !counted.empty(), motion_after_frames};
}

// Objects that the filters crop away keep a box outside of the frame.
std::span<const ZoneEvent> WatchedZones::moved(std::span<const ZoneEvent> events, const PlaneMap& placement) {
    if (events.empty() || placement == PlaneMap{}) return events;
    moved_.assign(events.begin(), events.end());
    for (auto& event : moved_) move_box(event, placement);
    return moved_;
}

void WatchedZones::report_changes(service::SeenObjects& seen) {
    const auto inside = events_.inside();
    std::bitset<max_event_zones> occupied;
    for (std::size_t zone = 0; zone < inside.size(); ++zone) occupied[zone] = inside[zone] > 0;
    if (occupied_ == occupied) return;
    occupied_ = occupied;
    seen.zones_changed(events_.zones(), inside);
}

// Runs on the sending thread, in frame order.
void BroadcastJob::State::send(InputFrame& frame, const FrameTime& time, const BroadcastFound& found) {
    const bool first = stream.counts().version == 0;
    parts.note_frame(frame.signal, first);
    const auto objects = found.has_objects ? seen_by_viewers(found.objects) : std::span<const Component>();
    const auto bytes_before = stream.counts().delta_frame_bytes;
    if (frame.replaces) stream.withdraw_before_next();
    if (sound) sound->sent(time.seconds, Clock::now());
    const int within = send_encoded(frame, time, found, objects);
    served.publish();
    in_force->note_sent(frame.requests);
    // The viewers for which the first frame waited must start with that frame, however long encoding and sending take.
    if (first && wait_for_viewers > 0) served.wait_for_first_states(wait_for_viewers, job.stop());
    requests_sent = frame.requests;
    if ((seen || clips) && detector) report(time, found.has_objects, objects);
    if (lag) watch_lag(time);
    threshold.took(time.seconds, within, stream.counts().delta_frame_bytes - bytes_before, job.statistics());
    job.statistics().set_sent_bytes(sent_before + stream.counts().up_to_date_bytes);
}

// If no viewer has to receive the same keyframe, a recording's keyframe is encoded from the camera's frame. In bounded
// mode, storing R itself takes more than twice as many bytes.
codec::PackAs BroadcastJob::State::packed_as(const FrameTime& time, bool watched, const LiveRecording* live_one) const {
    using enum codec::PackAs;
    if (watched) return delta_frame;
    if (!records() && !live_one) return clips ? delta_frame : nothing;
    const bool wanted = (records() && recorder->wants_picture(time)) || (live_one && live_one->wants_picture(time));
    return wanted ? keyframe : delta_frame;
}

// Returns the threshold of the frame. The first frame made after a request that changes what may be seen must replace R
// exactly (threshold 0). Otherwise dark people would stay visible under a black mask, because they differ from black by
// less than the threshold.
int BroadcastJob::State::threshold_of(const InputFrame& frame, const FrameTime& time) {
    const int within = threshold.next(time.seconds);
    return frame.replaces ? 0 : within;
}

// Runs on the sending thread, before each frame.
void BroadcastJob::State::choose_effort() {
    if (!fallback) return;
    const auto now = std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
    const int next = fallback->next(now, job.statistics().drops());
    if (next == effort) return;
    effort = next;
    job.statistics().set_effort(effort);
    const auto name = public_name(job.input().info().name);
    if (effort < parameters.effort)
        log_warning("{}: frames are late; encoding with effort {} until none has been dropped for {:.0f} s", name,
                    effort, fallback->wait_seconds());
    else
        log_info("{}: frames are in time; encoding with effort {} again", name, effort);
}

// Runs on the sending thread, after each frame. Says once that the detector may be what takes too long.
void BroadcastJob::State::watch_lag(const FrameTime& time) {
    const auto now = std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
    const auto lost = lag->next(now, time.seconds, job.statistics().drops());
    const bool live = job.input().info().live;
    if (!lost || (live && lost->dropped == 0)) return;
    const auto name = public_name(job.input().info().name);
    if (live)
        log_warning("{}: {} of {} frames were dropped in the last {:.0f} s; {}", name, lost->dropped,
                    lost->dropped + lost->frames, LagMonitor::window_seconds, faster_background_text);
    else
        log_warning("{}: plays at {:.0f} % of its speed; {}", name, 100 * lost->speed, faster_background_text);
    lag.reset();
}

// Encodes the frame against R. A stream with a live recording is not refined, because a file holds one state per frame.
int BroadcastJob::State::send_encoded(InputFrame& frame, const FrameTime& time, const BroadcastFound& found,
                                      std::span<const Component> objects) {
    auto& camera = frame.result();
    const bool first = stream.counts().version == 0, watched = stream.watched();
    const int within = threshold_of(frame, time);
    choose_effort();
    const auto as = packed_as(time, watched, found.live.get());
    // Frames that wait for an event are mostly discarded: a search for fewer bytes is not worth its time.
    const bool only_waits = clips && !watched && !records() && !found.live;
    if (const int now = only_waits ? 0 : effort; now != std::exchange(effort_in_force, now)) encoder.set_effort(now);
    net::StreamState::Update update(stream);
    auto encoded = encoder.encode(camera, as, within);
    if (encoded.whole)
        update.start(time, objects, encoded.packed, within);
    else if (encoded.changed)
        update.advance_blocks(*encoded.changed, time, objects, within);
    else
        update.advance(encoded.packed, time, objects, within);
    if (records()) record(encoded.packed, time, within);
    record_live(found, encoded.packed, time, within);
    if (clips)
        clips->add(encoded.packed, time, frame.signal, frame.replaces,
                   [this](auto picture) { stream.copy_reference(picture); });
    if (refinement && watched && !found.live && !frame.replaces)
        send_refinement(camera, encoded, time, objects, within);
    else if (refinement)
        refinement->refiner.begin_again();
    if (first)
        job.statistics().add_first_picture(shape.frame_bytes());
    else
        job.statistics().add_delta(encoded.found, shape.frame_bytes());
    return within;
}

void BroadcastJob::State::send_refinement(Frame& camera, codec::EncodedFrame& encoded, const FrameTime& time,
                                          std::span<const Component> objects, int within) {
    auto& [refiner, step, packer, packed] = *refinement;
    net::StreamState::Update update(stream);
    encoder.refine(camera, encoded, refiner, moment(time, within), step);
    if (step.empty()) return update.cancel();
    packed.clear();
    packer.pack_changes(step.changes(), step.threshold(), packed);
    const auto before = stream.counts().up_to_date_bytes;
    update.advance(packed, time, objects, within);
    if (clips) clips->add_refinement(packed);
    refined_bytes += stream.counts().up_to_date_bytes - before;
    refiner.took(step, std::ssize(packed));
}

// Records the frame that was just sent: the bytes that viewers receive or, if a keyframe is due, R as a keyframe.
void BroadcastJob::State::record(std::span<const std::uint8_t> packed, const FrameTime& time, int within) {
    if (!packed.empty() && (fwd::is_picture(packed) || !recorder->wants_picture(time)))
        return recorder->add(packed, time);
    recorder->add_picture(time, within, [this](auto picture) { stream.copy_reference(picture); });
}

// Adds the frame that was just sent to a recording that was started by request.
void BroadcastJob::State::record_live(const BroadcastFound& found, std::span<const std::uint8_t> packed,
                                      const FrameTime& time, int within) {
    if (found.live) found.live->add(packed, time, within, [this](auto picture) { stream.copy_reference(picture); });
}

std::optional<double> refine_seconds_of(std::optional<double> asked, const codec::EncoderParameters& encoder,
                                        bool recorded) {
    if (asked == 0 || encoder.effective_threshold() == 0) return std::nullopt;
    if (asked && recorded)
        fail(ErrorCode::usage,
             "refine {} cannot be combined with record, because a recorded stream is not refined; use refine 0 or no "
             "record",
             *asked);
    if (recorded) return std::nullopt;
    return asked.value_or(usual_refine_seconds);
}

}  // namespace framewire::jobs
