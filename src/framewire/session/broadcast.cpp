#include "framewire/session/broadcast.hpp"

#include "framewire/session/input/public_name.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <span>

namespace framewire::session {
namespace {

// How long viewers may take for the last state and the end; less when the user wants the program gone.
constexpr std::chrono::seconds ending_deadline{10}, stopped_deadline{2};

InputOptions shown_to_viewers(InputOptions input) {
    input.public_name = true;
    return input;
}

}  // namespace

JobFiles files_of(const BroadcastOptions& options) {
    auto files = JobFiles().source(options.input.source).output("--stats", options.job.statistics_path);
    if (options.detector) add_input_files(files, *options.detector);
    return files;
}

BroadcastJob::BroadcastJob(const BroadcastOptions& options)
    : wait_for_viewers_(options.wait_for_viewers),
      hurries_(options.hurries),
      job_(options.job, shown_to_viewers(options.input), files_of(options)),
      encoder_(options.encoder, job_.input().shape(), job_.input().executor()),
      detector_(options.detector
                    ? make_detector(*options.detector, job_.input().info().shape, job_.input().executor(), job_.stop())
                    : nullptr),
      state_(stream_info(), job_.input().executor()),
      server_(state_, options.server, job_.stop()) {}

net::StreamInfo BroadcastJob::stream_info() const {
    auto rate = job_.input().rate();
    const auto term_allowed = [](std::int64_t term) { return term >= 1 && term <= net::max_rate_term; };
    if (!term_allowed(rate.numerator) || !term_allowed(rate.denominator)) rate = {30, 1};
    const auto& parameters = encoder_.parameters();
    return {encoder_.shape(), parameters.mode, parameters.effective_threshold(), rate, public_name(source().name)};
}

const BroadcastResult& BroadcastJob::run() {
    job_.run<Found>(
        {.wanted = {.by_stages = true},
         .at_source_rate = !source().live && !hurries_,
         .begin = [this] { return wait_for_viewers_ == 0 || server_.wait_for_viewers(wait_for_viewers_, job_.stop()); },
         .make = [this] { return make_found(); },
         .start = [this](InputFrame& frame, const FrameTime&, Found& found) { start(frame, found); },
         .send = [this](InputFrame&, const FrameTime& time, Found& found) { send(time, found); },
         .finish = [this](FirstFailure& failure, Ending) { finish(failure); }},
        result_);
    return result_;
}

BroadcastJob::Found BroadcastJob::make_found() {
    return {encoder_.make_changes(), detector_ ? detector_->make_objects() : FrameObjects(), detector_ != nullptr};
}

void BroadcastJob::start(InputFrame& frame, Found& found) {
    if (detector_) detector_->start(frame.captured, found.objects);
    encoder_.start(frame.result(), found.changes);
}

void BroadcastJob::send(const FrameTime& time, const Found& found) {
    std::span<const Component> objects;
    if (found.has_objects) {
        objects = found.objects.objects();
        objects = objects.first(std::min(objects.size(), net::max_objects));
    }
    const auto frame_bytes = encoder_.shape().frame_bytes();
    auto& statistics = job_.statistics();
    if (found.changes.first()) {
        state_.start(encoder_.first_picture(), time, objects);
        statistics.add_first_picture(frame_bytes);
    } else {
        const auto& changes = found.changes.changes();
        state_.advance(changes, time, objects);
        statistics.add_delta(changes.summaries[0], frame_bytes);
    }
    server_.publish();
    statistics.set_sent_bytes(state_.counts().up_to_date_bytes);
}

// A failure's viewers are not hurried, though the circle has stopped the job by then.
void BroadcastJob::finish(const FirstFailure& failure) {
    const bool in_a_hurry = job_.stopped() && !failure;
    result_.viewers_left =
        server_.finish(in_a_hurry ? stopped_deadline : ending_deadline, failure ? "the source was lost" : "");
    result_.viewers = server_.metrics();
    job_.statistics().set_sent_bytes(state_.counts().up_to_date_bytes);
}

}  // namespace framewire::session
