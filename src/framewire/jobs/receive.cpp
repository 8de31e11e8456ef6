#include "framewire/jobs/receive.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/json_text.hpp"
#include "framewire/core/log.hpp"
#include "framewire/detect/box_overlay.hpp"
#include "framewire/jobs/job.hpp"
#include "framewire/jobs/outputs.hpp"
#include "framewire/plan/frame.hpp"
#include "framewire/plan/statistics.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

namespace framewire::jobs {

ChangesKind parse_changes(std::string_view text) {
    if (text == "mask") return ChangesKind::mask;
    if (text == "overlay") return ChangesKind::overlay;
    if (text == "heat") return ChangesKind::heat;
    fail(ErrorCode::usage, "cannot show changes as '{}'; allowed: mask, overlay and heat", text);
}

ChangesPicture::ChangesPicture(ChangesKind kind, const Shape& shape, int threads)
    : executor_(BackendChoice::cpu, threads), changes_(shape), picture_(shape.with_channels(3)) {
    if (kind == ChangesKind::heat)
        heat_ = std::make_unique<HeatmapFromChanges>(shape, executor_);
    else
        noise_ = std::make_unique<NoiseFromChanges>(kind == ChangesKind::overlay ? NoiseMode::overlay : NoiseMode::mask,
                                                    shape, executor_);
}

// Lists the changed bytes row by row. Rows that memcmp() finds equal are skipped.
void ChangesPicture::find_changes(HostView<const std::uint8_t> now) {
    const auto changes = changes_.view();
    auto& found = changes.summaries[0] = {};
    const auto row_bytes = now.shape().row_bytes();
    if (before_.shape() != now.shape())
        before_ = HostImage(now.shape());
    else
        for (int y = 0; y < now.shape().height; ++y) {
            const auto *const row = now.row(0, y), *const old = std::as_const(before_).view().row(0, y);
            if (std::memcmp(row, old, static_cast<std::size_t>(row_bytes)) == 0) continue;
            for (std::int64_t byte = 0; byte < row_bytes; ++byte) {
                if (row[byte] == old[byte]) continue;
                changes.positions[found.count] = static_cast<std::uint32_t>(y * row_bytes + byte);
                changes.differences[found.count++] = static_cast<std::uint8_t>(row[byte] - old[byte]);
            }
        }
    copy(now, before_.view());
}

HostView<const std::uint8_t> ChangesPicture::draw(const net::Client& client) {
    find_changes(client.picture());
    const auto changes = changed_bytes(changes_.view());
    if (heat_)
        heat_->run(changes, client.picture(), picture_.view());
    else
        noise_->run(changes, client.picture(), picture_.view());
    return std::as_const(picture_).view();
}

JobFiles files_of(const ReceiveOptions& options) {
    return JobFiles().sink("-o", options.recording).statistics(options.job.statistics_path);
}

// One thread receives, draws and records. Other threads read `now` and send requests through `remote`.
struct ReceiveJob::State {
    explicit State(const ReceiveOptions& options);

    void run();
    void make_changes();
    void receive();
    void count_threshold();
    net::ClientOptions client_options(const ReceiveOptions& options);
    void take_state(bool new_frame);
    HostView<const std::uint8_t> with_boxes(HostView<const std::uint8_t> picture);

    std::string url;
    bool boxes;
    std::function<void(HostView<const std::uint8_t>)> on_picture;
    std::function<void()> on_end;
    Job job;
    net::Client client;
    ReceiveResult result;
    RecordingTime time;
    std::optional<ChangesKind> changes_kind;
    std::unique_ptr<ChangesPicture> changes;
    // allocated once the server has detected something
    HostImage boxed;
    VideoOutput recording;
    std::int64_t frames = 0;
    ThresholdTally thresholds;
    // number of delta frames counted in `thresholds`
    std::int64_t steps = 0;
    std::shared_ptr<net::RemoteControl> remote;
    mutable std::mutex mutex;
    // guarded by the mutex
    ReceiveState now;
};

ReceiveJob::State::State(const ReceiveOptions& options)
    : url(options.url),
      boxes(options.boxes),
      on_picture(options.on_picture),
      on_end(options.on_end),
      job(options.job, files_of(options)),
      client(net::parse_stream_address(options.url), client_options(options), job.stop()),
      result{.stream = client.info()},
      time(result.stream.rate),
      changes_kind(options.changes),
      remote(client.remote_control()) {
    now.stream = result.stream;
    now.threshold = result.stream.threshold;
    make_changes();
    const auto& shown = changes ? changes->shape() : result.stream.shape;
    if (options.on_stream) options.on_stream(result.stream, shown);
    recording = VideoOutput(options.recording, shown, result.stream.rate,
                            {.stop = job.stop(),
                             .hurry = true,
                             .replace = options.job.replace,
                             .once_only = true,
                             .segments = options.segments,
                             .source_threshold = result.stream.threshold});
}

// The shape of the pictures may change, in which case the picture of changes is made again.
void ReceiveJob::State::make_changes() {
    if (changes_kind)
        changes = std::make_unique<ChangesPicture>(*changes_kind, result.stream.shape, job.options().threads);
}

void ReceiveJob::State::run() {
    job.begin_run();
    FirstFailure failure;
    failure.attempt([&] {
        const Progress progress(job.options().progress, job.statistics(), job.options().frames);
        receive();
        if (on_end) on_end();
    });
    result.ending = ending_of(failure, job.stopped(), true);
    failure.attempt([&] { recording.finish(result.ending); });
    result.figures = job.statistics().snapshot();
    result.counts = client.counts();
    result.state = client.state();
    result.threshold = client.threshold();
    if (thresholds.count() == 0) thresholds.add(result.threshold);
    result.thresholds = thresholds.figures();
    failure.attempt([&] {
        if (job.statistics_file()) job.statistics_file().write(to_json(result));
    });
    failure.rethrow();
    if (frames == 0 && !job.stopped()) fail(ErrorCode::source_lost, "{} ended before its first frame", url);
}

// Receives states. A state is either a new frame or a refinement of the previous frame, which is shown but not
// recorded.
void ReceiveJob::State::receive() {
    const auto& limit = job.options().frames;
    auto& statistics = job.statistics();
    while ((!limit || frames < *limit) && client.next()) {
        if (client.info().shape != result.stream.shape) {
            log_warning("{}: the frame size changed from {} to {}", url, to_string(result.stream.shape),
                        to_string(client.info().shape));
            result.stream = client.info();
            make_changes();
        }
        // waiting for the first picture must not affect the rate
        if (frames == 0) statistics.start();
        const auto picture = with_boxes(changes ? changes->draw(client) : client.picture());
        const bool new_frame = frames == 0 || !net::same_frame(client.state(), now.state);
        if (new_frame && recording.wanted()) recording.write(picture, time.next(client.state().seconds));
        if (on_picture) on_picture(picture);
        frames += new_frame;
        count_threshold();
        take_state(new_frame);
        if (new_frame) statistics.count_frame(result.stream.shape.frame_bytes());
        statistics.set_sent_bytes(client.counts().bytes);
    }
}

// Counts the threshold of a delta frame. A keyframe may be closer to the source than the delta frames that follow, so
// keyframes are not counted.
void ReceiveJob::State::count_threshold() {
    const auto received = client.counts().received.changes;
    if (received > steps) thresholds.add(client.threshold());
    steps = received;
}

// A recording cannot continue with another frame size, so a change of the size ends the stream if it is recorded.
net::ClientOptions ReceiveJob::State::client_options(const ReceiveOptions& options) {
    auto of_client = options.client;
    of_client.follows_size = options.recording.empty();
    of_client.on_loss = [this, then = of_client.on_loss](const std::string& why) {
        {
            const std::lock_guard lock(mutex);
            now.lost = why;
        }
        if (then) then(why);
    };
    return of_client;
}

// Publishes the newest state for other threads.
void ReceiveJob::State::take_state(bool new_frame) {
    const auto counts = client.counts();
    const std::lock_guard lock(mutex);
    if (new_frame) {
        const auto changed = counts.received.changed_bytes - now.counts.received.changed_bytes;
        now.changed = static_cast<double>(changed) / static_cast<double>(result.stream.shape.frame_bytes());
    }
    now.frames = frames;
    now.lost.clear();
    now.stream = client.info();
    now.state = client.state();
    now.threshold = client.threshold();
    now.counts = counts;
    if (const auto age = client.age()) now.latency_ms = std::chrono::duration<double, std::milli>(*age).count();
}

// Returns the picture with outlines of the detected objects; valid until the next call.
HostView<const std::uint8_t> ReceiveJob::State::with_boxes(HostView<const std::uint8_t> picture) {
    const auto objects = client.objects();
    if (!boxes || objects.empty()) return picture;
    if (boxed.shape() != picture.shape()) boxed = HostImage(picture.shape());
    copy(picture, boxed.view());
    draw_outlines(objects, {}, boxed.view());
    return std::as_const(boxed).view();
}

ReceiveJob::ReceiveJob(const ReceiveOptions& options) : state_(std::make_unique<State>(options)) {}
ReceiveJob::~ReceiveJob() = default;

const net::StreamInfo& ReceiveJob::stream() const { return state_->result.stream; }
const ReceiveResult& ReceiveJob::run() { return state_->run(), state_->result; }
const ReceiveResult& ReceiveJob::result() const { return state_->result; }
const Statistics& ReceiveJob::statistics() const { return state_->job.statistics(); }

ReceiveState ReceiveJob::state() const {
    const std::lock_guard lock(state_->mutex);
    return state_->now;
}

std::optional<service::Controls> ReceiveJob::controls() const {
    const auto text = state_->remote ? state_->remote->state() : std::string();
    return text.empty() ? std::nullopt : std::optional(service::parse_controls(text));
}

void ReceiveJob::control(const service::ControlRequest& request) {
    if (!state_->remote) fail(ErrorCode::usage, "{} does not accept control requests", state_->url);
    state_->remote->request(service::to_text(request));
}

std::string to_json(const ReceiveResult& result) {
    const auto& [stream, figures, counts, state, threshold, thresholds, ending] = result;
    const auto changed_of =
        static_cast<double>(counts.received.changes) * static_cast<double>(stream.shape.frame_bytes());
    const nlohmann::ordered_json json{
        {"source", stream.source},
        {"size", {{"width", stream.shape.width}, {"height", stream.shape.height}, {"channels", stream.shape.channels}}},
        {"mode", to_string(stream.mode)},
        {"threshold", stream.threshold},
        {"threshold_in_force",
         {{"last", threshold}, {"min", thresholds.min}, {"mean", thresholds.mean}, {"max", thresholds.max}}},
        {"frames", figures.frames},
        {"seconds", figures.seconds},
        {"fps", figures.fps},
        {"raw_bytes", figures.raw_bytes},
        {"received_bytes", counts.bytes},
        {"keyframes", counts.received.keyframes},
        {"delta_frames", counts.received.changes},
        {"skipped", counts.received.skipped},
        {"changed", changed_of > 0 ? static_cast<double>(counts.received.changed_bytes) / changed_of : 0.0},
        {"version", state.version},
        {"frame", state.frame},
        {"reconnections", counts.reconnections},
        // earlier names, until the next release
        {"pictures", counts.received.keyframes},
        {"steps", counts.received.changes},
    };
    return json_text(json, 2) + "\n";
}

}  // namespace framewire::jobs
