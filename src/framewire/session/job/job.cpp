#include "framewire/session/job/job.hpp"

#include "framewire/core/error.hpp"

#include <utility>

namespace framewire::session {

// Conflicts between files are reported before the statistics file is opened.
Job::Job(const JobOptions& options, const JobFiles& files)
    : options_(options),
      on_stop_(options_.stop, [this] { stop_.request_stop(); }),
      statistics_file_((files.require_different(), options_.statistics_path), options_.replace),
      statistics_(options_.statistics ? options_.statistics : std::make_shared<Statistics>()) {}

SinkOptions Job::sink_options(const SourceInfo& source) const {
    return {.stop = stop(),
            .live = source.live,
            .replace = options_.replace,
            .once_only = source.live,
            .facts = source.facts};
}

CircleOptions Job::circle_options(const SourceInfo& source, const Shape& sent, Backend backend) const {
    CircleOptions circle;
    circle.let_wait(frames_under_way(backend));
    circle.raw_frame_bytes = sent.frame_bytes();
    circle.drop_when_late = source.live;
    circle.max_frames = options_.frames;
    circle.stop = stop_;
    return circle;
}

void Job::begin_run() {
    if (std::exchange(ran_, true)) fail(ErrorCode::internal, "a job runs once");
}

}  // namespace framewire::session
