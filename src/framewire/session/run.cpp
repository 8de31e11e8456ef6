#include "framewire/session/run.hpp"

namespace framewire::session {
namespace {

// Frames are all there is.
struct Nothing {
    void wait() const {}
};

}  // namespace

JobFiles files_of(const RunOptions& options) {
    return JobFiles()
        .source(options.input.source)
        .sink("-o", options.output)
        .output("--stats", options.job.statistics_path);
}

RunJob::RunJob(const RunOptions& options)
    : job_(options.job, options.input, files_of(options)),
      video_(options.output, job_.input().shape(), job_.input().rate(), job_.sink_options()) {}

const JobResult& RunJob::run() {
    job_.run<Nothing>({.wanted = {.on_host = true},
                       .make = [] { return Nothing(); },
                       .send =
                           [this](InputFrame& frame, const FrameTime& time, Nothing&) {
                               video_.write(frame.result().host(), time);
                               job_.statistics().set_sent_bytes(video_.bytes());
                           },
                       .finish =
                           [this](FirstFailure& failure, Ending ending) {
                               failure.attempt([&] { video_.finish(ending); });
                               job_.statistics().set_sent_bytes(video_.bytes());
                           }},
                      result_);
    return result_;
}

}  // namespace framewire::session
