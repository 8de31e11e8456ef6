#include "framewire/session/broadcast/broadcast.hpp"

#include "framewire/session/broadcast/broadcast_state.hpp"
#include "framewire/session/broadcast/ending_deadlines.hpp"
#include "framewire/session/input/public_name.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace framewire::session {
namespace {

// Packing takes longer than finding the changes, so several frames are packed in parallel.
int packing_threads(int asked, const Executor& executor) {
    constexpr int most = 8;
    return asked > 0 ? asked : std::clamp(executor.pool().threads() / 2, 1, most);
}

// Returns the input options with the defaults of a served camera: limits on memory, the newest frames only, endless
// reconnection and "no signal" pictures while the source is lost.
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
    : asked_packing_threads(options.packing_threads),
      wait_for_viewers(options.wait_for_viewers),
      hurries(options.hurries),
      job(options.job, shown_to_viewers(options), files_of(options)),
      parameters(options.encoder),
      refresh_seconds(refresh_seconds_of(options.refresh_seconds, parameters, !options.record.empty())),
      threshold(parameters, options.rate),
      shape(job.input().shape()),
      detector(options.detector
                   ? make_detector(*options.detector, job.input().info().shape, job.input().executor(), job.stop())
                   : nullptr),
      seen(options.seen),
      keep_orders(options.keep_orders),
      stream(stream_info(), job.input().executor()),
      recorder(make_recorder(options)),
      served(listener(options).add(options.server.stream, stream, control_for_viewers(options))),
      sent_before(job.statistics().snapshot().sent_bytes) {
    auto& executor = job.input().executor();
    if (parameters.mode == delta::Mode::bounded)
        bounded.emplace(parameters, shape, executor);
    else
        encoder.emplace(parameters, shape, executor);
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
    // checked before a listener exists
    net::validate_stream_name(options.server.stream);
    return own_listener.emplace(options.server, job.stop());
}

net::Control BroadcastJob::State::control_for_viewers(const BroadcastOptions& options) {
    if (!options.input.panel) return nullptr;
    return [this](const std::string& wish) {
        if (!wish.empty()) obey_viewer(wish);
        return to_json(job.input().controls());
    };
}

// Carries out a viewer's control request. Returns when a frame made with it was sent or the stream ended.
void BroadcastJob::State::obey_viewer(const std::string& wish) {
    job.input().control(parse_control(wish));
    // If the job ends first, the next job starts with the request in force, so that is no error.
    if (ticket().wait() == OrdersInForce::Outcome::late) fail(ErrorCode::config, "{}", late_order_text);
    if (keep_orders) keep_orders();
}

OrderTicket BroadcastJob::State::ticket() const {
    const auto orders = job.input().orders_to_await();
    return orders ? OrderTicket{in_force, *orders} : OrderTicket{};
}

// The wire format holds rates with terms of 1 to net::max_rate_term; other rates are announced as 30 frames/s.
net::StreamInfo BroadcastJob::State::stream_info() const {
    auto rate = job.input().rate();
    const auto term_allowed = [](std::int64_t term) { return term >= 1 && term <= net::max_rate_term; };
    if (!term_allowed(rate.numerator) || !term_allowed(rate.denominator)) rate = {30, 1};
    return {shape, parameters.mode, threshold.greatest(), rate, public_name(job.input().info().name)};
}

// Stages of the frame ring: start() looks at the filtered frame, BroadcastFound::wait() packs it on the worker pool,
// send() encodes in order and publishes.
void BroadcastJob::State::run() {
    job.run<BroadcastFound>(
        {.wanted = {.by_stages = true},
         .waiters = packing_threads(asked_packing_threads, job.input().executor()),
         .at_source_rate = !job.input().info().live && !hurries,
         .begin = [this] { return wait_for_viewers == 0 || served.wait_for_viewers(wait_for_viewers, job.stop()); },
         .make = [this] { return make_found(); },
         .start = [this](InputFrame& frame, const FrameTime& time,
                         BroadcastFound& found) { start(frame, time, found); },
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

// Viewers of a job that failed get the usual time to receive the last state; only a user's stop shortens it.
void BroadcastJob::State::finish(FirstFailure& failure, Ending ending) {
    const bool in_a_hurry = job.stopped() && !failure;
    parts.note_end();
    in_force->end();
    result.ended_at_new_size = job.input().is_at_new_size() && !job.stopped() && !failure;
    result.ended_for_orders = job.input().ended_here() && !job.stopped() && !failure;
    if (own_listener) own_listener->close("the stream has come to its end");
    if (!result.ended_at_new_size && !result.ended_for_orders)
        result.viewers_left =
            served.finish(in_a_hurry ? stopped_deadline : ending_deadline, failure ? "the source was lost" : "");
    result.viewers = own_listener ? own_listener->metrics() : net::ServerMetrics{served.metrics()};
    if (recorder && stream.counts().version > 0) {
        FirstFailure recording;
        recording.attempt([&] { recorder->finish(ending); });
        // A full disk ends the recording, not the camera, if another job continues the stream.
        if (result.ended_at_new_size || result.ended_for_orders)
            result.recording_failure = recording.what();
        else
            failure.attempt([&] { recording.rethrow(); });
    }
    parts.finish(ending);
    job.statistics().set_sent_bytes(sent_before + stream.counts().up_to_date_bytes);
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
CameraPanel& BroadcastJob::panel() { return state_->job.input().panel(); }
Controls BroadcastJob::controls() const { return state_->job.input().controls(); }
void BroadcastJob::control(const ControlOrder& order) { state_->job.input().control(order); }
BroadcastStanding BroadcastJob::standing() const { return state_->standing(); }
net::StreamMetrics BroadcastJob::viewers() const { return state_->served.metrics(); }
std::uint64_t BroadcastJob::picture_version() const { return state_->stream.version(); }
std::uint64_t BroadcastJob::oldest_picture_version() const { return state_->stream.oldest_allowed(); }
std::uint64_t BroadcastJob::copy_picture(HostView<std::uint8_t> to) const { return state_->stream.copy_reference(to); }
bool BroadcastJob::take_chain(const std::string& chain) { return state_->job.input().take_chain(chain); }
bool BroadcastJob::set_threshold(int threshold) {
    if (!state_->threshold.set_least(threshold)) return false;
    state_->job.input().count_order();
    return true;
}
OrderTicket BroadcastJob::ticket() const { return state_->ticket(); }
OrderTicket BroadcastJob::first_frame() const { return {state_->in_force, 0}; }
OrderTicket BroadcastJob::next_job() const { return {state_->in_force, std::numeric_limits<std::uint64_t>::max()}; }
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
