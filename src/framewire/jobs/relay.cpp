#include "framewire/jobs/relay.hpp"
#include "framewire/core/error.hpp"
#include "framewire/jobs/broadcast.hpp"
#include "framewire/jobs/input/input.hpp"
#include "framewire/jobs/job.hpp"
#include "framewire/media/sources.hpp"
#include "framewire/net/client.hpp"
#include "framewire/net/stream_state.hpp"
#include "framewire/plan/statistics.hpp"

#include <algorithm>
#include <atomic>
#include <string_view>

namespace framewire::jobs {
namespace {

// Returns true if viewers of stream `a` can continue with stream `b`.
bool same(const net::StreamInfo& a, const net::StreamInfo& b) {
    return a.shape == b.shape && a.mode == b.mode && a.threshold == b.threshold;
}

// Returns the client options for the upstream server. A relay has the same limits and retry time as a served camera.
net::ClientOptions upstream_of(const BroadcastOptions& options) {
    auto upstream = options.upstream;
    upstream.max_pixels = options.input.max_pixels.value_or(FrameLimits::served_pixels);
    upstream.reconnect = options.input.reconnect.value_or(SourceOptions::for_ever);
    return upstream;
}

// Returns true if the camera reconnects after the stream was lost permanently or changed its properties.
bool is_connected_again(const BroadcastOptions& options) {
    return options.listener && upstream_of(options).reconnect.count() > 0;
}

bool is_loss(const FirstFailure& failure) {
    try {
        failure.rethrow();
    } catch (const Error& error) {
        return error.code() == ErrorCode::source_lost || error.code() == ErrorCode::no_input;
        // other exceptions do not count as a loss
    } catch (...) {
    }
    return false;
}

const BroadcastOptions& checked(const BroadcastOptions& options) {
    check_relay(options);
    return options;
}

}  // namespace

std::optional<net::StreamAddress> relayed_stream(const std::string& source) {
    if (source.empty() || parse_source(source).kind->name != "stream") return std::nullopt;
    return net::parse_stream_address(source);
}

void check_served_source(const std::string& source) {
    if (!relayed_stream(source)) check_source(source);
}

void check_relay(const BroadcastOptions& options) {
    const auto refuse = [&](std::string_view what) {
        fail(ErrorCode::usage, "{} is forwarded unchanged; set {} at its origin server", options.input.source, what);
    };
    if (!options.input.filters.empty()) refuse("a filter");
    if (options.detector) refuse("a detector");
    if (options.rate) refuse("a bitrate");
    if (options.refine_seconds) refuse("the refinement time");
    if (options.input.loop) refuse("a loop");
    if (options.input.start_seconds > 0 || options.input.duration_seconds) refuse("a time range");
    if (!options.record.empty())
        fail(ErrorCode::usage, "{} is forwarded unchanged and cannot be recorded; use 'framewire view -o' to record it",
             options.input.source);
}

struct RelayJob::State {
    explicit State(const BroadcastOptions& options)
        : url(options.input.source),
          connected_again(is_connected_again(checked(options))),
          job(options.job, {}),
          client(relayed_stream(url).value(), noting_loss(upstream_of(options)), job.stop()),
          info(client.info()),
          stream(info),
          served(listener(options).add(options.server.stream, stream)) {}

    // Returns client options with which queries see a loss at once.
    net::ClientOptions noting_loss(net::ClientOptions upstream) {
        upstream.on_loss = [this](const std::string&) { up = false; };
        return upstream;
    }

    // Returns the shared listener, or opens the relay's own one.
    net::Listener& listener(const BroadcastOptions& options) {
        if (options.listener) return *options.listener;
        return own_listener.emplace(options.server, job.stop());
    }

    void run() {
        job.begin_run();
        FirstFailure failure;
        failure.attempt([&] {
            const Progress progress(job.options().progress, job.statistics(), job.options().frames);
            job.statistics().start();
            forward();
        });
        up = false;
        result.ending = ending_of(failure, job.stopped(), true);
        // If the camera will reconnect, its viewers are disconnected and come back; an error would end them
        // permanently.
        if (!connected_again || !is_loss(failure) || job.stopped())
            result.viewers_left = served.finish(job.stopped() && !failure ? stopped_deadline : ending_deadline,
                                                failure ? "the source was lost" : "");
        result.viewers = own_listener ? own_listener->metrics() : net::ServerMetrics{served.metrics()};
        result.figures = job.statistics().snapshot();
        failure.rethrow();
    }

    // Forwards each new state of the upstream picture to the viewers.
    void forward() {
        const auto& limit = job.options().frames;
        net::StateHeader last{};
        for (std::int64_t frames = 0; (!limit || frames < *limit) && client.next();) {
            if (!same(client.info(), info))
                fail(ErrorCode::source_lost, "{} came back with different properties",
                     to_string(relayed_stream(url).value()));
            take();
            if (!up.exchange(true) && frames > 0) ++reconnects;
            served.publish();
            const bool new_frame = frames == 0 || !net::same_frame(client.state(), last);
            last = client.state();
            frames += new_frame;
            if (new_frame) job.statistics().count_frame(info.shape.frame_bytes());
            job.statistics().set_sent_bytes(stream.counts().up_to_date_bytes);
        }
    }

    // Adds the client's newest state to the stream: the packed delta frame as received if it follows the previous
    // state, or else the blocks that changed.
    void take() {
        const auto& state = client.state();
        const FrameTime time{state.frame, state.seconds, client.captured().value_or(Clock::now())};
        if (state.withdraws) stream.withdraw_before_next();
        const bool follows = client.follows() && stream.version() > 0;
        if (follows)
            stream.advance(client.picture(), client.packed(), time, client.objects(), state.threshold);
        else if (stream.version() > 0)
            stream.advance_blocks(client.picture(), client.came(), time, client.objects(), state.threshold);
        else
            stream.start(client.picture(), time, client.objects(), {}, state.threshold);
    }

    std::string url;
    bool connected_again;
    std::atomic<bool> up = false;
    std::atomic<std::int64_t> reconnects = 0;
    Job job;
    net::Client client;
    net::StreamInfo info;
    net::StreamState stream;
    std::optional<net::Listener> own_listener;
    net::ServedStream served;
    BroadcastResult result;
};

RelayJob::RelayJob(const BroadcastOptions& options) : state_(std::make_unique<State>(options)) {}
RelayJob::~RelayJob() = default;

const net::StreamAddress& RelayJob::address() const { return state_->served.address(); }
const std::string& RelayJob::source() const { return state_->url; }
const net::StreamInfo& RelayJob::info() const { return state_->info; }
bool RelayJob::up() const { return state_->up; }
std::int64_t RelayJob::reconnects() const { return state_->reconnects; }
net::StreamMetrics RelayJob::viewers() const { return state_->served.metrics(); }
std::uint64_t RelayJob::picture_version() const { return state_->stream.version(); }
net::StateHeader RelayJob::copy_picture(HostView<std::uint8_t> to) const { return state_->stream.copy_reference(to); }
const BroadcastResult& RelayJob::run() { return state_->run(), state_->result; }
const BroadcastResult& RelayJob::result() const { return state_->result; }

}  // namespace framewire::jobs
