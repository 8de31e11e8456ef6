#include "framewire/session/hog/describe_folder.hpp"

#include "framewire/core/error.hpp"
#include "framewire/media/formats/npy.hpp"
#include "framewire/media/images/image_folder.hpp"
#include "framewire/session/hog/step_pictures.hpp"
#include "framewire/session/outputs/folders.hpp"

#include <cstddef>

namespace framewire::session {
namespace {

JobFiles checked_files_of(const DescribeOptions& options) {
    if (!is_folder(options.input.source))
        fail(ErrorCode::usage, "-o {} is a folder, for the images of a folder; {} is none, so that a .npy is needed",
             options.output, options.input.source);
    return files_of(options);
}

}  // namespace

DescribeFolderJob::DescribeFolderJob(const DescribeOptions& options)
    : options_(options),
      job_(options.job, options.input, checked_files_of(options)),
      outputs_(outputs_of(job_.input().images(), options.output, ".npy")),
      under_way_(options.frames_under_way_on(job_.input().executor().backend())) {
    make_folder(options.output);
}

const DescribeResult& DescribeFolderJob::run() {
    job_.run<Found>(
        {.wanted = {.on_host = !options_.steps_folder.empty(), .by_stages = true},
         .under_way = under_way_,
         .make = [] { return Found(); },
         .start = [this](InputFrame& frame, const FrameTime&, Found& found) { start(frame, found); },
         .send = [this](InputFrame& frame, const FrameTime& time, Found& found) { send(frame, time, found); },
         .finish = [](FirstFailure&, Ending) {}},  // each file is whole
        result_);
    return result_;
}

void DescribeFolderJob::start(InputFrame& frame, Found& found) {
    auto& picture = frame.result();
    auto& executor = job_.input().executor();
    if (!hog_ || described_ != picture.shape()) {
        hog_ = std::make_shared<FrameHog>(options_.hog, picture.shape(), executor);
        described_ = picture.shape();
    }
    found.hog = hog_;
    if (found.descriptors.shape() != hog_->output_shape())
        found.descriptors = FrameDescriptors(hog_->output_shape(), executor);
    hog_->start(picture, found.descriptors);
}

void DescribeFolderJob::send(InputFrame& frame, const FrameTime& time, Found& found) {
    const OutputFileOptions files{.stop = job_.stop(), .replace = options_.job.replace};
    if (time.index == 0 && !options_.steps_folder.empty())
        write_step_pictures(options_.steps_folder, options_.hog, frame.result().host(), job_.input().executor(),
                            options_.job.replace);
    const auto values = found.descriptors.values();
    NpyFile file(outputs_[static_cast<std::size_t>(time.index)], array_shape(found.descriptors.shape()), false, files);
    file.write(values.data(), values.size());
    file.finish();
    job_.statistics().set_sent_bytes(sent_bytes_ += file.bytes());
    result_.descriptors.add(values);
    found.hog.reset();
}

}  // namespace framewire::session
