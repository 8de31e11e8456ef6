#include "framewire/session/hog/describe_folder.hpp"

#include "framewire/core/error.hpp"
#include "framewire/media/formats/npy.hpp"
#include "framewire/media/images/image_folder.hpp"
#include "framewire/pipeline/frames/hog/frame_hog.hpp"
#include "framewire/session/hog/steps/step_pictures.hpp"
#include "framewire/session/input/folder_input.hpp"
#include "framewire/session/job/frame_job.hpp"
#include "framewire/session/outputs/folders.hpp"

#include <cstddef>

namespace framewire::session {
namespace {

// Rejects a source that is not a folder.
JobFiles checked_files_of(const DescribeOptions& options) {
    if (!is_folder(options.input.source))
        fail(ErrorCode::usage, "-o {} is a folder, for the images of a folder; {} is none, so that a .npy is needed",
             options.output, options.input.source);
    return files_of(options);
}

}  // namespace

struct DescribeFolderJob::State {
    // Results of one image. They share the plan, which is destroyed when the last image of its shape has been written.
    // The plan waits for its work, so it must be destroyed before the descriptors.
    struct Found {
        FrameDescriptors descriptors;
        std::shared_ptr<FrameHog> hog;

        void wait() { descriptors.wait(); }
    };

    explicit State(const DescribeOptions& asked);

    void run();
    void start(InputFrame& frame, Found& found);
    void send(InputFrame& frame, const FrameTime& time, Found& found);

    DescribeOptions options;
    FrameJob<FolderInput> job;
    std::vector<std::string> outputs;
    int under_way;
    std::shared_ptr<FrameHog> hog;
    // image shape that `hog` was made for
    Shape described{};
    std::int64_t sent_bytes = 0;
    DescribeResult result;
};

DescribeFolderJob::State::State(const DescribeOptions& asked)
    : options(asked),
      job(options.job, options.input, checked_files_of(options)),
      outputs(outputs_of(job.input().images(), options.output, ".npy")),
      under_way(options.frames_under_way_on(job.input().executor().backend())) {
    make_folder(options.output);
}

void DescribeFolderJob::State::run() {
    job.run<Found>(
        {.wanted = {.on_host = !options.steps_folder.empty(), .by_stages = true},
         .under_way = under_way,
         .make = [] { return Found(); },
         .start = [this](InputFrame& frame, const FrameTime&, Found& found) { start(frame, found); },
         .send = [this](InputFrame& frame, const FrameTime& time, Found& found) { send(frame, time, found); },
         // each file is completed on its own
         .finish = [](FirstFailure&, Ending) {}},
        result);
}

// Makes a new plan if the image's shape differs from the previous one.
void DescribeFolderJob::State::start(InputFrame& frame, Found& found) {
    auto& picture = frame.result();
    auto& executor = job.input().executor();
    if (!hog || described != picture.shape()) {
        hog = std::make_shared<FrameHog>(options.hog, picture.shape(), executor);
        described = picture.shape();
    }
    found.hog = hog;
    if (found.descriptors.shape() != hog->output_shape())
        found.descriptors = FrameDescriptors(hog->output_shape(), executor);
    hog->start(picture, found.descriptors);
}

// Writes the image's file and, for selected images, the step pictures.
void DescribeFolderJob::State::send(InputFrame& frame, const FrameTime& time, Found& found) {
    const OutputFileOptions files{.stop = job.stop(), .replace = options.job.replace};
    const auto& image = job.input().images()[static_cast<std::size_t>(time.index)];
    if (const auto folder = steps_folder_of(options, time.index, image); !folder.empty())
        write_step_pictures(folder, options.hog, frame.result().host(), job.input().executor(), options.job.replace);
    const auto values = found.descriptors.values();
    NpyFile file(outputs[static_cast<std::size_t>(time.index)], array_shape(found.descriptors.shape()), false, files);
    file.write(values.data(), values.size());
    file.finish();
    job.statistics().set_sent_bytes(sent_bytes += file.bytes());
    result.descriptors.add(values);
    found.hog.reset();
}

DescribeFolderJob::DescribeFolderJob(const DescribeOptions& options) : state_(std::make_unique<State>(options)) {}
DescribeFolderJob::~DescribeFolderJob() = default;

const DescribeResult& DescribeFolderJob::run() { return state_->run(), state_->result; }
const DescribeResult& DescribeFolderJob::result() const { return state_->result; }
const Statistics& DescribeFolderJob::statistics() const { return state_->job.statistics(); }

}  // namespace framewire::session
