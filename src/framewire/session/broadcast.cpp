#include "framewire/session/broadcast.hpp"

#include "framewire/core/log.hpp"
#include "framewire/delta/packing/packing.hpp"
#include "framewire/delta/rate/rate_control.hpp"
#include "framewire/media/fwd/recorder.hpp"
#include "framewire/net/stream/stream_state.hpp"
#include "framewire/pipeline/frames/bounded_encoder.hpp"
#include "framewire/pipeline/frames/moved_objects.hpp"
#include "framewire/pipeline/frames/stream_encoder.hpp"
#include "framewire/session/detector.hpp"
#include "framewire/session/ending_deadlines.hpp"
#include "framewire/session/input/filtered_input.hpp"
#include "framewire/session/input/public_name.hpp"
#include "framewire/session/job/frame_job.hpp"
#include "framewire/session/live/parts/live_parts.hpp"
#include "framewire/session/refresh/sharpening.hpp"
#include "framewire/session/threshold_in_force.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace framewire::session {
namespace {

// What changed in a frame, and what moves in it.
struct Found {
    const net::StreamState* stream;
    int threshold;
    const fwd::Recorder* recorder;  // none: nothing is recorded
    FrameChanges changes;
    FrameObjects objects;
    bool has_objects;
    std::shared_ptr<LiveRecording> live{};  // likewise
    std::optional<delta::Packer> packer;    // none in the mode bounded, which packs frames in their order
    std::optional<PackedSharper> sharper;   // none: nothing is sharpened, or the mode is bounded
    std::vector<std::uint8_t> packed{};     // the changes, where somebody watches

    void wait() {
        if (packer) {
            changes.wait();
            packed.clear();
            if (!changes.first() && (stream->watched() || (recorder && recorder->goes_on()) || live))
                packer->pack_changes(changes.changes(), threshold, packed);
            if (sharper) sharper->pack(*packer);
        }
        if (has_objects) objects.wait();
    }
};

// A step takes longer to pack than to find: so many threads pack at once.
int packing_threads(int asked, const Executor& executor) {
    constexpr int most = 8;
    return asked > 0 ? asked : std::clamp(executor.pool().threads() / 2, 1, most);
}

InputOptions shown_to_viewers(InputOptions input) {
    input.public_name = true;
    input.shows_loss = true;
    if (!input.reconnect) input.reconnect = SourceOptions::for_ever;
    return input;
}

}  // namespace

struct BroadcastJob::State {
    explicit State(const BroadcastOptions& options);

    net::Listener& listener(const BroadcastOptions& options);
    std::shared_ptr<delta::SharedEncoder> shared_encoder(const BroadcastOptions& options);
    net::Control control_for_viewers(const BroadcastOptions& options);
    net::StreamInfo stream_info() const;
    void run();
    Found make_found();
    void start(InputFrame& frame, const FrameTime& time, Found& found);
    delta::RestSharpener::Moment moment(const FrameTime& time, int within) {
        return {time.seconds, within, threshold.room_bytes()};
    }
    void send_sharper(const PackedSharper& sharper, const FrameTime& time, std::span<const Component> objects,
                      int within);
    void send(InputFrame& frame, const FrameTime& time, const Found& found);
    void send_changes(const FrameTime& time, const Found& found, std::span<const Component> objects);
    BoundedEncoder::Packs packed_of(const FrameTime& time, const LiveRecording* live_one) const;
    int send_bounded(Frame& camera, const FrameTime& time, const Found& found, std::span<const Component> objects);
    void record(std::span<const std::uint8_t> packed, const FrameTime& time, int within);
    void record_live(const Found& found, std::span<const std::uint8_t> packed, const FrameTime& time, int within);
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
    net::StreamState stream;
    std::unique_ptr<fwd::Recorder> recorder;
    std::vector<Component> counted, moved;  // objects of one frame: those that count; where filters take them
    LiveParts parts;
    std::optional<net::Listener> own_listener;
    net::ServedStream served;
    std::int64_t sent_before;  // bytes, by jobs whose figures these go on with
    BroadcastResult result;
};

BroadcastJob::State::State(const BroadcastOptions& options)
    : asked_packing_threads(options.packing_threads),
      wait_for_viewers(options.wait_for_viewers),
      hurries(options.hurries),
      job(options.job, shown_to_viewers(options.input), files_of(options)),
      parameters(options.encoder),
      refresh_seconds(refresh_seconds_of(options.refresh_seconds, parameters, !options.record.empty())),
      threshold(parameters, options.rate),
      shape(job.input().shape()),
      detector(options.detector
                   ? make_detector(*options.detector, job.input().info().shape, job.input().executor(), job.stop())
                   : nullptr),
      seen(options.seen),
      stream(stream_info(), job.input().executor()),
      recorder(make_recorder(options)),
      served(listener(options).add(options.server.stream, stream, control_for_viewers(options))),
      sent_before(job.statistics().snapshot().sent_bytes) {
    auto& executor = job.input().executor();
    if (parameters.mode == delta::Mode::bounded)
        bounded.emplace(parameters, shape, executor);
    else
        encoder.emplace(parameters, shape, executor, shared_encoder(options));
    if (refresh_seconds) {
        sharpener.emplace(shape, *refresh_seconds, parameters.threshold, executor);
        if (bounded) bounded_sharper.emplace(BoundedSharper{PackedSharper(shape, executor), delta::Packer(shape)});
    }
    threshold.set_frame_rate(stream.info().rate.value());
    if (detector) {
        counted.reserve(net::max_objects);
        moved.reserve(net::max_objects);
    }
    set_zones(zones_on(options.zones, job.input().info().shape));
}

net::Listener& BroadcastJob::State::listener(const BroadcastOptions& options) {
    if (options.listener) return *options.listener;
    net::validate_stream_name(options.server.stream);  // before anybody listens
    return own_listener.emplace(options.server, job.stop());
}

std::shared_ptr<delta::SharedEncoder> BroadcastJob::State::shared_encoder(const BroadcastOptions& options) {
    const bool may_share = options.shared_encoders && job.input().backend() == Backend::cuda;
    return may_share ? options.shared_encoders->of(shape) : nullptr;
}

net::Control BroadcastJob::State::control_for_viewers(const BroadcastOptions& options) {
    if (!options.input.panel) return nullptr;
    return [this](const std::string& wish) {
        if (!wish.empty()) job.input().control(parse_control(wish));
        return to_json(job.input().controls());
    };
}

net::StreamInfo BroadcastJob::State::stream_info() const {
    auto rate = job.input().rate();
    const auto term_allowed = [](std::int64_t term) { return term >= 1 && term <= net::max_rate_term; };
    if (!term_allowed(rate.numerator) || !term_allowed(rate.denominator)) rate = {30, 1};
    return {shape, parameters.mode, threshold.greatest(), rate, public_name(job.input().info().name)};
}

void BroadcastJob::State::run() {
    job.run<Found>(
        {.wanted = {.by_stages = true},
         .waiters = packing_threads(asked_packing_threads, job.input().executor()),
         .at_source_rate = !job.input().info().live && !hurries,
         .begin = [this] { return wait_for_viewers == 0 || served.wait_for_viewers(wait_for_viewers, job.stop()); },
         .make = [this] { return make_found(); },
         .start = [this](InputFrame& frame, const FrameTime& time, Found& found) { start(frame, time, found); },
         .send = [this](InputFrame& frame, const FrameTime& time, Found& found) { send(frame, time, found); },
         .finish = [this](FirstFailure& failure, Ending ending) { finish(failure, ending); }},
        result);
}

Found BroadcastJob::State::make_found() {
    Found found{&stream,
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

void BroadcastJob::State::start(InputFrame& frame, const FrameTime& time, Found& found) {
    found.live = parts.recording();
    found.has_objects = detector && frame.signal;
    if (found.has_objects) detector->start(frame.captured, found.objects);
    if (!encoder) return;
    found.threshold = threshold.next(time.seconds);
    // What is recorded is not sharpened: a file has one state of each frame.
    const bool sharpens = sharpener && stream.watched() && !found.live;
    encoder->start(frame.result(), found.changes, found.threshold, sharpens);
    if (!sharpener) return;
    found.sharper->step.clear();
    if (sharpens && !found.changes.goes_by_shared())
        encoder->sharpen(frame.result(), found.changes, *sharpener, moment(time, found.threshold), found.sharper->step);
    else
        sharpener->begin_anew();
}

// Objects are found in frames as captured, and drawn over what the filters make of them.
std::span<const Component> BroadcastJob::State::seen_by_viewers(const FrameObjects& found) {
    parts.count(found.objects(), counted);
    auto objects = std::span<const Component>(counted);
    objects = objects.first(std::min(objects.size(), net::max_objects));
    const auto& placement = job.input().placement();
    if (placement == PlaneMap{}) return objects;
    move_objects(objects, placement, shape, moved);
    return moved;
}

void BroadcastJob::State::send(InputFrame& frame, const FrameTime& time, const Found& found) {
    parts.note_frame(frame.signal, stream.counts().version == 0);
    const auto objects = found.has_objects ? seen_by_viewers(found.objects) : std::span<const Component>();
    const auto bytes_before = stream.counts().step_bytes;
    int within = found.threshold;
    if (bounded)
        within = send_bounded(frame.result(), time, found, objects);
    else
        send_changes(time, found, objects);
    served.publish();
    if (seen && found.has_objects) seen->seen({time, shape, objects});
    threshold.took(time.seconds, within, stream.counts().step_bytes - bytes_before, job.statistics());
    job.statistics().set_sent_bytes(sent_before + stream.counts().up_to_date_bytes);
}

void BroadcastJob::State::send_changes(const FrameTime& time, const Found& found, std::span<const Component> objects) {
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

// One version more of the same frame.
void BroadcastJob::State::send_sharper(const PackedSharper& sharper, const FrameTime& time,
                                       std::span<const Component> objects, int within) {
    if (sharper.step.empty()) return;
    stream.advance(sharper.step.changes(), time, objects, sharper.packed, within);
    sharpener->took(sharper.step, std::ssize(sharper.packed));
}

// A recording's pictures are new ones, near the camera, while there is no viewer who would have to get them, too. R as
// it is takes more than twice as many bytes.
BoundedEncoder::Packs BroadcastJob::State::packed_of(const FrameTime& time, const LiveRecording* live_one) const {
    using enum BoundedEncoder::Packs;
    if (stream.watched()) return step;
    if (!records() && !live_one) return nothing;
    const bool wanted = (records() && recorder->wants_picture(time)) || (live_one && live_one->wants_picture(time));
    return wanted ? picture : step;
}

// Gives the threshold of the frame.
int BroadcastJob::State::send_bounded(Frame& camera, const FrameTime& time, const Found& found,
                                      std::span<const Component> objects) {
    const bool first = stream.counts().version == 0;
    const int within = threshold.next(time.seconds);
    auto outcome = bounded->encode(camera, packed_of(time, found.live.get()), within);
    if (outcome.whole)
        stream.start(bounded->reference(), time, objects, outcome.packed, within);
    else
        stream.advance(bounded->reference(), outcome.packed, time, objects, within);
    if (records()) record(outcome.packed, time, within);
    record_live(found, outcome.packed, time, within);
    if (sharpener && stream.watched() && !found.live) {
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

// The frame that the stream came to last: what viewers get, or from time to time R as a picture.
void BroadcastJob::State::record(std::span<const std::uint8_t> packed, const FrameTime& time, int within) {
    if (!packed.empty() && (fwd::is_picture(packed) || !recorder->wants_picture(time)))
        return recorder->add(packed, time);
    recorder->add_picture(time, within, [this](auto picture) { stream.copy_reference(picture); });
}

void BroadcastJob::State::record_live(const Found& found, std::span<const std::uint8_t> packed, const FrameTime& time,
                                      int within) {
    if (found.live) found.live->add(packed, time, within, [this](auto picture) { stream.copy_reference(picture); });
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

void BroadcastJob::State::start_recording(const std::string& path) {
    parts.start_recording([&] {
        return std::make_shared<LiveRecording>(path, recording_facts(), OutputFileOptions{.stop = job.stop()},
                                               job.input().executor().pool());
    });
}

void BroadcastJob::State::set_zones(const std::vector<LiveZone>& zones) {
    check_zones(zones, job.input().info().shape);
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
            .controls = job.input().controls()};
}

// Nobody hurries the viewers of a job that failed.
void BroadcastJob::State::finish(FirstFailure& failure, Ending ending) {
    const bool in_a_hurry = job.stopped() && !failure;
    parts.note_end();
    result.ended_at_new_size = job.input().is_at_new_size() && !job.stopped() && !failure;
    result.ended_for_orders = job.input().ended_here() && !job.stopped() && !failure;
    if (own_listener) own_listener->close("the stream has come to its end");
    if (!result.ended_at_new_size && !result.ended_for_orders)
        result.viewers_left =
            served.finish(in_a_hurry ? stopped_deadline : ending_deadline, failure ? "the source was lost" : "");
    result.viewers = own_listener ? own_listener->metrics() : net::ServerMetrics{served.metrics()};
    if (recorder && stream.counts().version > 0) failure.attempt([&] { recorder->finish(ending); });
    parts.finish(ending);
    job.statistics().set_sent_bytes(sent_before + stream.counts().up_to_date_bytes);
}

JobFiles files_of(const BroadcastOptions& options) {
    auto files = JobFiles()
                     .source(options.input.source)
                     .sink("--record", options.record)
                     .output("--stats", options.job.statistics_path);
    if (options.detector) add_input_files(files, *options.detector);
    return files;
}

BroadcastJob::BroadcastJob(const BroadcastOptions& options) : state_(std::make_unique<State>(options)) {}
BroadcastJob::~BroadcastJob() = default;

const net::StreamAddress& BroadcastJob::address() const { return state_->served.address(); }
const SourceInfo& BroadcastJob::source() const { return state_->job.input().info(); }
std::shared_ptr<OpenedSource> BroadcastJob::opened() const { return state_->job.input().opened(); }
CameraPanel& BroadcastJob::panel() { return state_->job.input().panel(); }
Controls BroadcastJob::controls() const { return state_->job.input().controls(); }
void BroadcastJob::control(const ControlOrder& order) { state_->job.input().control(order); }
BroadcastStanding BroadcastJob::standing() const { return state_->standing(); }
net::StreamMetrics BroadcastJob::viewers() const { return state_->served.metrics(); }
std::uint64_t BroadcastJob::picture_version() const { return state_->stream.version(); }
std::uint64_t BroadcastJob::copy_picture(HostView<std::uint8_t> to) const { return state_->stream.copy_reference(to); }
bool BroadcastJob::take_chain(const std::string& chain) { return state_->job.input().take_chain(chain); }
bool BroadcastJob::set_threshold(int threshold) { return state_->threshold.set_least(threshold); }
void BroadcastJob::set_zones(const std::vector<LiveZone>& zones) { state_->set_zones(zones); }
void BroadcastJob::end_here() { state_->job.input().end_here(); }
void BroadcastJob::start_recording(const std::string& path) { state_->start_recording(path); }
void BroadcastJob::stop_recording() { state_->parts.stop_recording(); }
std::optional<LiveRecordingState> BroadcastJob::recording() const {
    const auto recording = state_->parts.recording();
    return recording ? std::optional(recording->state()) : std::nullopt;
}
const BroadcastResult& BroadcastJob::run() { return state_->run(), state_->result; }
const BroadcastResult& BroadcastJob::result() const { return state_->result; }
const Statistics& BroadcastJob::statistics() const { return state_->job.statistics(); }

}  // namespace framewire::session
