#include "framewire/session/receive/receive.hpp"

#include "framewire/core/error.hpp"
#include "framewire/detect/overlay/box_overlay.hpp"
#include "framewire/pipeline/statistics/progress.hpp"

#include <utility>

namespace framewire::session {

JobFiles files_of(const ReceiveOptions& options) {
    return JobFiles().sink("-o", options.recording).output("--stats", options.job.statistics_path);
}

ReceiveJob::ReceiveJob(const ReceiveOptions& options)
    : url_(options.url),
      boxes_(options.boxes),
      on_picture_(options.on_picture),
      on_end_(options.on_end),
      job_(options.job, files_of(options)),
      client_(net::parse_stream_address(options.url), options.client, job_.stop()),
      result_{.stream = client_.info()},
      time_(stream().rate) {
    if (options.changes)
        changes_ = std::make_unique<ChangesPicture>(*options.changes, stream().shape, options.job.threads);
    const auto& shown = changes_ ? changes_->shape() : stream().shape;
    if (options.on_stream) options.on_stream(stream(), shown);
    recording_ = VideoOutput(options.recording, shown, stream().rate,
                             {.stop = job_.stop(), .replace = options.job.replace, .once_only = true});
}

const ReceiveResult& ReceiveJob::run() {
    job_.begin_run();
    FirstFailure failure;
    failure.attempt([&] {
        const Progress progress(job_.options().progress, job_.statistics(), job_.options().frames);
        receive();
        if (on_end_) on_end_();
    });
    result_.ending = ending_of(failure, job_.stopped(), true);
    failure.attempt([&] { recording_.finish(result_.ending); });
    result_.figures = job_.statistics().snapshot();
    result_.counts = client_.counts();
    result_.state = client_.state();
    failure.attempt([&] {
        if (job_.statistics_file()) job_.statistics_file().write(to_json(result_));
    });
    failure.rethrow();
    if (frames_ == 0 && !job_.stopped()) fail(ErrorCode::source_lost, "{} ended before its first picture", url_);
    return result_;
}

void ReceiveJob::receive() {
    const auto& limit = job_.options().frames;
    auto& statistics = job_.statistics();
    while ((!limit || frames_ < *limit) && client_.next()) {
        if (frames_ == 0) statistics.start();  // the wait for the first says nothing of the rate
        const auto picture = with_boxes(changes_ ? changes_->draw(client_) : client_.picture());
        if (recording_.wanted()) recording_.write(picture, time_.next(client_.state().seconds));
        if (on_picture_) on_picture_(picture);
        ++frames_;
        statistics.count_frame(stream().shape.frame_bytes());
        statistics.set_sent_bytes(client_.counts().bytes);
    }
}

// The picture with the boxes of what the server detected in it; holds until the next call.
HostView<const std::uint8_t> ReceiveJob::with_boxes(HostView<const std::uint8_t> picture) {
    const auto objects = client_.objects();
    if (!boxes_ || objects.empty()) return picture;
    if (boxed_.shape() != picture.shape()) boxed_ = HostImage(picture.shape());
    copy(picture, boxed_.view());
    draw_outlines(objects, {}, boxed_.view());
    return std::as_const(boxed_).view();
}

}  // namespace framewire::session
