// Objects are found per frame by a FrameDetector, and records, masks, label images and annotated frames are written in
// frame order.
#include "framewire/session/detect.hpp"

#include "framewire/core/buffer.hpp"
#include "framewire/detect/overlay/box_overlay.hpp"
#include "framewire/session/detector.hpp"
#include "framewire/session/input/filtered_input.hpp"
#include "framewire/session/job/frame_job.hpp"
#include "framewire/session/outputs/label_output.hpp"
#include "framewire/session/outputs/record_file.hpp"
#include "framewire/session/outputs/video_output.hpp"
#include "framewire/session/steps/detect_steps.hpp"

#include <iterator>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace framewire::session {

namespace {

// Makes label images from bit masks. Runs on the CPU: the masks are on the host already when frames are sent.
class LabelImager {
public:
    LabelImager(int connectivity, const Shape& frame, int threads)
        : executor_(BackendChoice::cpu, threads),
          labelling_({.connectivity = connectivity, .capacity = 1, .label_images = true}, frame, executor_),
          components_(1, 1),
          labels_(static_cast<std::size_t>(frame.with_channels(1).bytes())) {}

    std::span<std::int32_t> labels_of(HostBitMaskView<const std::uint32_t> mask) {
        labelling_.run(mask, components_.lists(), {labels_.data()});
        return labels_;
    }

private:
    Executor executor_;
    ComponentLabelling labelling_;
    HostComponents components_;
    std::vector<std::int32_t> labels_;
};

}  // namespace

// Members are opened in this order: the source first, outputs last.
struct DetectJob::State {
    explicit State(const DetectOptions& options);

    void run();
    void send(InputFrame& frame, const FrameTime& time, const FrameObjects& found);
    void finish(FirstFailure& failure, Ending ending);

    FrameJob<FilteredInput> job;
    std::unique_ptr<FrameDetector> detector;
    VideoOutput annotated, masks;
    HostImage mask;  // the last one, unpacked
    std::optional<LabelImager> imager;
    LabelOutput labels;
    std::optional<DetectSteps> steps;
    ObjectRecords records;
    RecordFile output;
    DetectResult result;
};

DetectJob::State::State(const DetectOptions& options)
    : job(options.job, options.input, files_of(options)),
      detector(make_detector(options.detector, job.input().shape(), job.input().executor(), job.stop(),
                             !options.mask.empty() || !options.labels.empty())),
      annotated(options.annotate, job.input().shape(), job.input().rate(),
                job.film_options(options.input, options.audio)),
      masks(options.mask, job.input().shape().with_channels(1), job.input().rate(), job.sink_options()),
      labels(options.labels, job.input().shape(), job.input().info().frames == 1, job.sink_options().file_options()),
      records(options.format),
      output(options.output, job.sink_options().file_options()) {
    const auto& shape = job.input().shape();
    if (masks.wanted()) mask = HostImage(shape.with_channels(1));
    if (detector->goes_by_rows() && !annotated.wanted() && options.steps.folder.empty())
        job.input().give_unfiltered_pictures();
    if (labels.wanted()) imager.emplace(options.detector.parameters.connectivity, shape, options.job.threads);
    if (!options.steps.folder.empty())
        steps.emplace(options.steps, options.detector, shape, job.input().rate(), options.job.threads,
                      job.sink_options(), job.stop());
}

void DetectJob::State::run() {
    job.run<FrameObjects>(
        {.wanted = {.on_host = annotated.wanted() || steps, .by_stages = true},
         .begin = [this] { return output.begin(records.begin()), true; },
         .make = [this] { return detector->make_objects(); },
         .start = [this](InputFrame& frame, const FrameTime&,
                         FrameObjects& found) { start_on(frame, *detector, found); },
         .send = [this](InputFrame& frame, const FrameTime& time, FrameObjects& found) { send(frame, time, found); },
         .finish = [this](FirstFailure& failure, Ending ending) { finish(failure, ending); },
         .describe =
             [this](RunDescription& run) {
                 run.filters.push_back({"detect", {{"objects", 0, static_cast<double>(result.objects)}}});
             }},
        result);
}

// Writes all outputs of one frame. The boxes are drawn last, because they change the frame.
void DetectJob::State::send(InputFrame& frame, const FrameTime& time, const FrameObjects& found) {
    const auto objects = found.objects();
    const auto& shape = job.input().shape();
    output.write(records.add({time.index, time.seconds, shape.width, shape.height, objects}));
    if (masks.wanted()) {
        found.unpack_mask(mask.view());
        masks.write(std::as_const(mask).view(), time);
    }
    if (labels.wanted()) labels.write(imager->labels_of(found.mask()), objects);
    if (steps) steps->write(frame.result().host(), time);
    if (annotated.wanted()) {
        const auto image = frame.result().host();
        draw_outlines(objects, {}, image);
        annotated.write(image, time);
    }
    result.objects += std::ssize(objects);
    result.left_out += found.left_out();
    job.statistics().set_sent_bytes(output.bytes() + annotated.bytes() + masks.bytes() + labels.bytes() +
                                    (steps ? steps->bytes() : 0));
}

void DetectJob::State::finish(FirstFailure& failure, Ending ending) {
    failure.attempt([&] { annotated.finish(ending); });
    failure.attempt([&] { masks.finish(ending); });
    failure.attempt([&] { labels.finish(ending); });
    if (steps) failure.attempt([&] { steps->finish(ending); });
    failure.attempt([&] { output.finish(ending, records.end()); });
}

namespace {

FileFormat file_format_of(RecordFormat format) {
    switch (format) {
        case RecordFormat::coco: return {"records of --format coco", {".json"}};
        case RecordFormat::mot: return {"records of --format mot", {".txt"}};
        default: return {"records of --format jsonl", json_lines_format.endings};
    }
}

}  // namespace

JobFiles files_of(const DetectOptions& options) {
    require_one_standard_output({options.output, options.annotate, options.mask}, "-o, --annotate and --mask");
    auto files = JobFiles()
                     .source(options.input.source)
                     .output("-o", options.output, file_format_of(options.format))
                     .sink("--annotate", options.annotate)
                     .sink("--mask", options.mask)
                     .statistics(options.job.statistics_path);
    if (is_label_image(options.labels))
        files.sink("--labels", options.labels);
    else
        files.output("--labels", options.labels, {"label images", {".npy", ".png"}});
    add_step_files(files, options.steps, options.detector.parameters);
    add_input_files(files, options.detector);
    return files;
}

DetectJob::DetectJob(const DetectOptions& options) : state_(std::make_unique<State>(options)) {}
DetectJob::~DetectJob() = default;

const DetectResult& DetectJob::run() { return state_->run(), state_->result; }
const DetectResult& DetectJob::result() const { return state_->result; }
const Statistics& DetectJob::statistics() const { return state_->job.statistics(); }

}  // namespace framewire::session
