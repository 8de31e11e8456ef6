#include "framewire/session/hog/describe.hpp"

#include "framewire/media/formats/npy.hpp"
#include "framewire/media/images/image_folder.hpp"
#include "framewire/pipeline/frames/hog/frame_hog.hpp"
#include "framewire/session/hog/steps/step_pictures.hpp"
#include "framewire/session/input/filtered_input.hpp"
#include "framewire/session/job/frame_job.hpp"
#include "framewire/session/outputs/written.hpp"

namespace framewire::session {

struct DescribeJob::State {
    explicit State(const DescribeOptions& asked);

    void run();
    void send(InputFrame& frame, const FrameDescriptors& found);

    DescribeOptions options;
    FrameJob<FilteredInput> job;
    int under_way;
    FrameHog hog;
    NpyFile output;
    Written written;
    DescribeResult result;
};

DescribeJob::State::State(const DescribeOptions& asked)
    : options(asked),
      job(options.job, options.input, files_of(options)),
      under_way(options.frames_under_way_on(job.input().backend())),
      hog(options.hog, job.input().shape(), job.input().executor()),
      output(options.output, array_shape(hog.output_shape()),
             job.input().info().frames != 1 || is_folder(options.input.source), job.sink_options().file_options()) {
    result.shape = hog.output_shape();
    if (hog.takes_planes() && options.steps_folder.empty()) job.input().give_unfiltered_pictures();
}

void DescribeJob::State::run() {
    job.run<FrameDescriptors>(
        {.wanted = {.on_host = !options.steps_folder.empty(), .by_stages = true},
         .under_way = under_way,
         .make = [this] { return FrameDescriptors(hog.output_shape(), job.input().executor()); },
         .start = [this](InputFrame& frame, const FrameTime&, FrameDescriptors& found) { start_on(frame, hog, found); },
         .send = [this](InputFrame& frame, const FrameTime&, FrameDescriptors& found) { send(frame, found); },
         .finish =
             [this](FirstFailure& failure, Ending ending) {
                 if (written.whole()) failure.attempt([&] { output.finish(ending); });
             }},
        result);
}

void DescribeJob::State::send(InputFrame& frame, const FrameDescriptors& found) {
    if (const auto folder = steps_folder_of(options, result.descriptors.frames()); !folder.empty())
        write_step_pictures(folder, options.hog, frame.result().host(), job.input().executor(), options.job.replace);
    const auto values = found.values();
    written.attempt([&] { output.write(values.data(), values.size()); });
    job.statistics().set_sent_bytes(output.bytes());
    result.descriptors.add(values);
}

DescribeJob::DescribeJob(const DescribeOptions& options) : state_(std::make_unique<State>(options)) {}
DescribeJob::~DescribeJob() = default;

const DescribeResult& DescribeJob::run() { return state_->run(), state_->result; }
const DescribeResult& DescribeJob::result() const { return state_->result; }
const Statistics& DescribeJob::statistics() const { return state_->job.statistics(); }

}  // namespace framewire::session
