#include "framewire/session/detect.hpp"

#include "framewire/detect/overlay/box_overlay.hpp"

#include <iterator>
#include <utility>

namespace framewire::session {

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

DetectJob::DetectJob(const DetectOptions& options)
    : job_(options.job, options.input, files_of(options)),
      detector_(make_detector(options.detector, job_.input().shape(), job_.input().executor(), job_.stop(),
                              !options.mask.empty())),
      annotated_(options.annotate, job_.input().shape(), job_.input().rate(), job_.sink_options()),
      masks_(options.mask, job_.input().shape().with_channels(1), job_.input().rate(), job_.sink_options()),
      records_(options.format),
      output_(options.output, job_.sink_options().file_options()) {
    if (masks_.wanted()) mask_ = HostImage(job_.input().shape().with_channels(1));
}

const DetectResult& DetectJob::run() {
    job_.run<FrameObjects>(
        {.wanted = {.on_host = annotated_.wanted(), .by_stages = true},
         .begin = [this] { return output_.begin(records_.begin()), true; },
         .make = [this] { return detector_->make_objects(); },
         .start = [this](InputFrame& frame, const FrameTime&,
                         FrameObjects& found) { detector_->start(frame.result(), found); },
         .send = [this](InputFrame& frame, const FrameTime& time, FrameObjects& found) { send(frame, time, found); },
         .finish = [this](FirstFailure& failure, Ending ending) { finish(failure, ending); },
         .describe =
             [this](RunDescription& run) {
                 run.filters.push_back({"detect", {{"objects", 0, static_cast<double>(result_.objects)}}});
             }},
        result_);
    return result_;
}

void DetectJob::send(InputFrame& frame, const FrameTime& time, const FrameObjects& found) {
    const auto objects = found.objects();
    const auto& shape = job_.input().shape();
    output_.write(records_.add({time.index, time.seconds, shape.width, shape.height, objects}));
    if (masks_.wanted()) {
        found.unpack_mask(mask_.view());
        masks_.write(std::as_const(mask_).view(), time);
    }
    if (annotated_.wanted()) {
        const auto image = frame.result().host();
        draw_outlines(objects, {}, image);
        annotated_.write(image, time);
    }
    result_.objects += std::ssize(objects);
    result_.left_out += found.left_out();
    job_.statistics().set_sent_bytes(output_.bytes() + annotated_.bytes() + masks_.bytes());
}

void DetectJob::finish(FirstFailure& failure, Ending ending) {
    failure.attempt([&] { annotated_.finish(ending); });
    failure.attempt([&] { masks_.finish(ending); });
    failure.attempt([&] { output_.finish(ending, records_.end()); });
}

}  // namespace framewire::session
