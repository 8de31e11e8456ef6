#include "framewire/session/detect.hpp"

#include "framewire/core/buffer.hpp"
#include "framewire/detect/overlay/box_overlay.hpp"
#include "framewire/session/detector.hpp"
#include "framewire/session/input/filtered_input.hpp"
#include "framewire/session/job/frame_job.hpp"
#include "framewire/session/outputs/record_file.hpp"
#include "framewire/session/outputs/video_output.hpp"

#include <iterator>
#include <utility>

namespace framewire::session {

struct DetectJob::State {
    explicit State(const DetectOptions& options);

    void run();
    void send(InputFrame& frame, const FrameTime& time, const FrameObjects& found);
    void finish(FirstFailure& failure, Ending ending);

    FrameJob<FilteredInput> job;
    std::unique_ptr<FrameDetector> detector;
    VideoOutput annotated, masks;
    HostImage mask;  // the last one, unpacked
    ObjectRecords records;
    RecordFile output;
    DetectResult result;
};

DetectJob::State::State(const DetectOptions& options)
    : job(options.job, options.input, files_of(options)),
      detector(make_detector(options.detector, job.input().shape(), job.input().executor(), job.stop(),
                             !options.mask.empty())),
      annotated(options.annotate, job.input().shape(), job.input().rate(), job.sink_options()),
      masks(options.mask, job.input().shape().with_channels(1), job.input().rate(), job.sink_options()),
      records(options.format),
      output(options.output, job.sink_options().file_options()) {
    if (masks.wanted()) mask = HostImage(job.input().shape().with_channels(1));
}

void DetectJob::State::run() {
    job.run<FrameObjects>(
        {.wanted = {.on_host = annotated.wanted(), .by_stages = true},
         .begin = [this] { return output.begin(records.begin()), true; },
         .make = [this] { return detector->make_objects(); },
         .start = [this](InputFrame& frame, const FrameTime&,
                         FrameObjects& found) { detector->start(frame.result(), found); },
         .send = [this](InputFrame& frame, const FrameTime& time, FrameObjects& found) { send(frame, time, found); },
         .finish = [this](FirstFailure& failure, Ending ending) { finish(failure, ending); },
         .describe =
             [this](RunDescription& run) {
                 run.filters.push_back({"detect", {{"objects", 0, static_cast<double>(result.objects)}}});
             }},
        result);
}

void DetectJob::State::send(InputFrame& frame, const FrameTime& time, const FrameObjects& found) {
    const auto objects = found.objects();
    const auto& shape = job.input().shape();
    output.write(records.add({time.index, time.seconds, shape.width, shape.height, objects}));
    if (masks.wanted()) {
        found.unpack_mask(mask.view());
        masks.write(std::as_const(mask).view(), time);
    }
    if (annotated.wanted()) {
        const auto image = frame.result().host();
        draw_outlines(objects, {}, image);
        annotated.write(image, time);
    }
    result.objects += std::ssize(objects);
    result.left_out += found.left_out();
    job.statistics().set_sent_bytes(output.bytes() + annotated.bytes() + masks.bytes());
}

void DetectJob::State::finish(FirstFailure& failure, Ending ending) {
    failure.attempt([&] { annotated.finish(ending); });
    failure.attempt([&] { masks.finish(ending); });
    failure.attempt([&] { output.finish(ending, records.end()); });
}

JobFiles files_of(const DetectOptions& options) {
    require_one_standard_output({options.output, options.annotate, options.mask}, "-o, --annotate and --mask");
    auto files = JobFiles()
                     .source(options.input.source)
                     .output("-o", options.output)
                     .sink("--annotate", options.annotate)
                     .sink("--mask", options.mask)
                     .output("--stats", options.job.statistics_path);
    add_input_files(files, options.detector);
    return files;
}

DetectJob::DetectJob(const DetectOptions& options) : state_(std::make_unique<State>(options)) {}
DetectJob::~DetectJob() = default;

const DetectResult& DetectJob::run() { return state_->run(), state_->result; }
const DetectResult& DetectJob::result() const { return state_->result; }
const Statistics& DetectJob::statistics() const { return state_->job.statistics(); }

}  // namespace framewire::session
