#include "framewire/session/hog/describe.hpp"

#include "framewire/media/images/image_folder.hpp"
#include "framewire/session/hog/step_pictures.hpp"

namespace framewire::session {

DescribeJob::DescribeJob(const DescribeOptions& options)
    : options_(options),
      job_(options.job, options.input, files_of(options)),
      under_way_(options.frames_under_way_on(job_.input().backend())),
      hog_(options.hog, job_.input().shape(), job_.input().executor()),
      output_(options.output, array_shape(hog_.output_shape()),
              job_.input().info().frames != 1 || is_folder(options.input.source), job_.sink_options().file_options()) {
    result_.shape = hog_.output_shape();
}

const DescribeResult& DescribeJob::run() {
    job_.run<FrameDescriptors>(
        {.wanted = {.on_host = !options_.steps_folder.empty(), .by_stages = true},
         .under_way = under_way_,
         .make = [this] { return FrameDescriptors(hog_.output_shape(), job_.input().executor()); },
         .start = [this](InputFrame& frame, const FrameTime&,
                         FrameDescriptors& found) { hog_.start(frame.result(), found); },
         .send = [this](InputFrame& frame, const FrameTime&, FrameDescriptors& found) { send(frame, found); },
         .finish =
             [this](FirstFailure& failure, Ending ending) {
                 if (written_.whole()) failure.attempt([&] { output_.finish(ending); });
             }},
        result_);
    return result_;
}

void DescribeJob::send(InputFrame& frame, const FrameDescriptors& found) {
    if (!options_.steps_folder.empty() && result_.descriptors.frames() == 0)
        write_step_pictures(options_.steps_folder, options_.hog, frame.result().host(), job_.input().executor(),
                            options_.job.replace);
    const auto values = found.values();
    written_.attempt([&] { output_.write(values.data(), values.size()); });
    job_.statistics().set_sent_bytes(output_.bytes());
    result_.descriptors.add(values);
}

}  // namespace framewire::session
