#include "framewire/jobs/run.hpp"
#include "framewire/jobs/input/filtered_input.hpp"
#include "framewire/jobs/job.hpp"
#include "framewire/jobs/outputs.hpp"
#include "framewire/media/media.hpp"

#include <cstdint>
#include <optional>
#include <utility>

namespace framewire::jobs {
namespace {

// Per-frame results of this job, which has none besides the frame itself.
struct Nothing {
    void wait() const {}
};

}  // namespace

struct RunJob::State {
    explicit State(const RunOptions& options)
        : paced(options.pace == Pace::own || (options.pace == Pace::by_output && is_network_sink(options.output))),
          job(options.job, options.input, files_of(options)),
          video(options.output, job.input().shape(), job.input().rate(), sink_options(options)) {
        job.input().give_planes(video.planes());
    }

    SinkOptions sink_options(const RunOptions& options) const {
        auto sink = job.film_options(options.input, options.audio);
        sink.segments = options.segments;
        return sink;
    }

    void run() {
        FrameStages<Nothing> stages{.wanted = {.on_host = true},
                                    .at_source_rate = paced && !job.input().info().live,
                                    .make = [] { return Nothing(); },
                                    .send =
                                        [this](InputFrame& frame, const FrameTime& time, const Nothing&) {
                                            write(frame, time);
                                            job.statistics().set_sent_bytes(video.bytes());
                                        },
                                    .finish =
                                        [this](FirstFailure& failure, Ending ending) {
                                            failure.attempt([&] { video.finish(ending); });
                                            job.statistics().set_sent_bytes(video.bytes());
                                        }};
        job.input().let_results_replace();
        job.run(stages, result);
    }

    void write(InputFrame& frame, const FrameTime& time) {
        if (const auto planes = std::exchange(frame.planes, nullptr)) return video.write_planes(planes, time);
        // moved out of the frame, so that the decoder gets its memory back as soon as possible
        const auto own = std::exchange(frame.own, nullptr);
        if (own && video.write_own(*own, time)) return;
        if (own) own->to_image(frame.result().host());
        video.write(frame.result().host(), time);
    }

    bool paced;
    FrameJob<FilteredInput> job;
    VideoOutput video;
    JobResult result;
};

JobFiles files_of(const RunOptions& options) {
    return JobFiles().source(options.input.source).sink("-o", options.output).statistics(options.job.statistics_path);
}

RunJob::RunJob(const RunOptions& options) : state_(std::make_unique<State>(options)) {}
RunJob::~RunJob() = default;

const JobResult& RunJob::run() { return state_->run(), state_->result; }
const JobResult& RunJob::result() const { return state_->result; }
const Statistics& RunJob::statistics() const { return state_->job.statistics(); }

}  // namespace framewire::jobs
