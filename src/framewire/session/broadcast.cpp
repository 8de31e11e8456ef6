#include "framewire/session/broadcast.hpp"

#include "framewire/delta/packing/packing.hpp"
#include "framewire/net/stream/stream_state.hpp"
#include "framewire/pipeline/frames/bounded_encoder.hpp"
#include "framewire/pipeline/frames/moved_objects.hpp"
#include "framewire/pipeline/frames/stream_encoder.hpp"
#include "framewire/session/detector.hpp"
#include "framewire/session/input/filtered_input.hpp"
#include "framewire/session/input/public_name.hpp"
#include "framewire/session/job/frame_job.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace framewire::session {
namespace {

// How long viewers may take for the last state and the end; less when the user wants the program gone.
constexpr std::chrono::seconds ending_deadline{10}, stopped_deadline{2};

// What changed in a frame, and what moves in it.
struct Found {
    const net::StreamState* stream;
    FrameChanges changes;
    FrameObjects objects;
    bool has_objects;
    std::optional<delta::Packer> packer;  // none in the mode bounded, which packs frames in their order
    std::vector<std::uint8_t> packed{};   // the changes, where somebody watches

    void wait() {
        if (packer) {
            changes.wait();
            packed.clear();
            if (!changes.first() && stream->watched())
                packer->pack_changes(changes.changes(), stream->info().threshold, packed);
        }
        if (has_objects) objects.wait();
    }
};

// A step takes longer to pack than to find: so many threads pack at once.
int packing_threads(const Executor& executor) {
    constexpr int most = 8;
    return std::clamp(executor.pool().threads() / 2, 1, most);
}

InputOptions shown_to_viewers(InputOptions input) {
    input.public_name = true;
    input.shows_loss = true;
    return input;
}

}  // namespace

struct BroadcastJob::State {
    explicit State(const BroadcastOptions& options);

    net::StreamInfo stream_info() const;
    void run();
    Found make_found();
    void start(InputFrame& frame, Found& found);
    void send(InputFrame& frame, const FrameTime& time, const Found& found);
    void send_changes(const FrameTime& time, const Found& found, std::span<const Component> objects);
    void send_bounded(HostView<const std::uint8_t> camera, const FrameTime& time, std::span<const Component> objects);
    std::span<const Component> seen_by_viewers(const FrameObjects& objects);
    void finish(const FirstFailure& failure);

    int wait_for_viewers;
    bool hurries;
    FrameJob<FilteredInput> job;
    delta::EncoderParameters parameters;
    Shape shape;  // of the stream's pictures
    std::optional<StreamEncoder> encoder;
    std::optional<BoundedEncoder> bounded;  // one of the two
    std::unique_ptr<FrameDetector> detector;
    net::StreamState stream;
    std::vector<Component> moved;  // objects of one frame, where filters take them
    net::Server server;
    BroadcastResult result;
};

BroadcastJob::State::State(const BroadcastOptions& options)
    : wait_for_viewers(options.wait_for_viewers),
      hurries(options.hurries),
      job(options.job, shown_to_viewers(options.input), files_of(options)),
      parameters(options.encoder),
      shape(job.input().shape()),
      detector(options.detector
                   ? make_detector(*options.detector, job.input().info().shape, job.input().executor(), job.stop())
                   : nullptr),
      stream(stream_info(), job.input().executor()),
      server(stream, options.server, job.stop()) {
    auto& executor = job.input().executor();
    if (parameters.mode == delta::Mode::bounded)
        bounded.emplace(parameters, shape, executor);
    else
        encoder.emplace(parameters, shape, executor);
    if (detector) moved.reserve(net::max_objects);
}

net::StreamInfo BroadcastJob::State::stream_info() const {
    auto rate = job.input().rate();
    const auto term_allowed = [](std::int64_t term) { return term >= 1 && term <= net::max_rate_term; };
    if (!term_allowed(rate.numerator) || !term_allowed(rate.denominator)) rate = {30, 1};
    return {shape, parameters.mode, parameters.effective_threshold(), rate, public_name(job.input().info().name)};
}

void BroadcastJob::State::run() {
    job.run<Found>(
        {.wanted = {.on_host = bounded.has_value(), .by_stages = encoder || detector},
         .waiters = packing_threads(job.input().executor()),
         .at_source_rate = !job.input().info().live && !hurries,
         .begin = [this] { return wait_for_viewers == 0 || server.wait_for_viewers(wait_for_viewers, job.stop()); },
         .make = [this] { return make_found(); },
         .start = [this](InputFrame& frame, const FrameTime&, Found& found) { start(frame, found); },
         .send = [this](InputFrame& frame, const FrameTime& time, Found& found) { send(frame, time, found); },
         .finish = [this](FirstFailure& failure, Ending) { finish(failure); }},
        result);
}

Found BroadcastJob::State::make_found() {
    Found found{&stream, encoder ? encoder->make_changes() : FrameChanges(),
                detector ? detector->make_objects() : FrameObjects(), false, std::nullopt};
    if (encoder) found.packer.emplace(shape);
    return found;
}

void BroadcastJob::State::start(InputFrame& frame, Found& found) {
    found.has_objects = detector && frame.signal;
    if (found.has_objects) detector->start(frame.captured, found.objects);
    if (encoder) encoder->start(frame.result(), found.changes);
}

// Objects are found in frames as captured, and drawn over what the filters make of them.
std::span<const Component> BroadcastJob::State::seen_by_viewers(const FrameObjects& found) {
    auto objects = found.objects();
    objects = objects.first(std::min(objects.size(), net::max_objects));
    const auto& placement = job.input().placement();
    if (placement == PlaneMap{}) return objects;
    move_objects(objects, placement, shape, moved);
    return moved;
}

void BroadcastJob::State::send(InputFrame& frame, const FrameTime& time, const Found& found) {
    const auto objects = found.has_objects ? seen_by_viewers(found.objects) : std::span<const Component>();
    if (bounded)
        send_bounded(frame.result().host(), time, objects);
    else
        send_changes(time, found, objects);
    server.publish();
    job.statistics().set_sent_bytes(stream.counts().up_to_date_bytes);
}

void BroadcastJob::State::send_changes(const FrameTime& time, const Found& found, std::span<const Component> objects) {
    if (found.changes.first()) {
        stream.start(encoder->first_picture(), time, objects);
        job.statistics().add_first_picture(shape.frame_bytes());
        return;
    }
    const auto& changes = found.changes.changes();
    stream.advance(changes, time, objects, found.packed);
    job.statistics().add_delta(changes.summaries[0], shape.frame_bytes());
}

void BroadcastJob::State::send_bounded(HostView<const std::uint8_t> camera, const FrameTime& time,
                                       std::span<const Component> objects) {
    const bool first = stream.counts().version == 0;
    const auto outcome = bounded->encode(camera, stream.watched());
    if (outcome.whole)
        stream.start(bounded->reference(), time, objects, outcome.packed);
    else
        stream.advance(bounded->reference(), outcome.packed, time, objects);
    if (first)
        job.statistics().add_first_picture(shape.frame_bytes());
    else
        job.statistics().add_delta(outcome.found, shape.frame_bytes());
}

// Nobody hurries the viewers of a job that failed.
void BroadcastJob::State::finish(const FirstFailure& failure) {
    const bool in_a_hurry = job.stopped() && !failure;
    result.viewers_left =
        server.finish(in_a_hurry ? stopped_deadline : ending_deadline, failure ? "the source was lost" : "");
    result.viewers = server.metrics();
    job.statistics().set_sent_bytes(stream.counts().up_to_date_bytes);
}

JobFiles files_of(const BroadcastOptions& options) {
    auto files = JobFiles().source(options.input.source).output("--stats", options.job.statistics_path);
    if (options.detector) add_input_files(files, *options.detector);
    return files;
}

BroadcastJob::BroadcastJob(const BroadcastOptions& options) : state_(std::make_unique<State>(options)) {}
BroadcastJob::~BroadcastJob() = default;

const net::StreamAddress& BroadcastJob::address() const { return state_->server.address(); }
const SourceInfo& BroadcastJob::source() const { return state_->job.input().info(); }
CameraPanel& BroadcastJob::panel() { return state_->job.input().panel(); }
const BroadcastResult& BroadcastJob::run() { return state_->run(), state_->result; }
const BroadcastResult& BroadcastJob::result() const { return state_->result; }
const Statistics& BroadcastJob::statistics() const { return state_->job.statistics(); }

}  // namespace framewire::session
