#include "framewire/session/people/people_folder_job.hpp"

#include "framewire/core/error.hpp"
#include "framewire/media/formats/window_model_file.hpp"
#include "framewire/pipeline/frames/frame_people.hpp"
#include "framewire/session/outputs/folders.hpp"

#include <spdlog/spdlog.h>

#include <cstddef>
#include <filesystem>

namespace framewire::session {
namespace {

WindowModel model_for(const PeopleOptions& options) {
    auto model = read_window_model(options.model, options.window, options.job.stop);
    validate(model, options.people);  // not only when the first image is there
    return model;
}

std::vector<std::string> annotated_of(const std::vector<std::string>& images, const PeopleOptions& options) {
    const auto& folder = options.annotate;
    if (folder.empty()) return {};
    if (!is_output_folder(folder))
        fail(ErrorCode::usage, "--annotate {}: the images of a folder go into a folder, {}/", folder, folder);
    if (is_same_folder(folder, options.input.source))
        fail(ErrorCode::usage, "--annotate {} is the folder of -i; another is needed, for images there would be lost",
             folder);
    return outputs_of(images, folder, ".png");
}

}  // namespace

PeopleFolderJob::PeopleFolderJob(const PeopleOptions& options)
    : parameters_(options.people),
      model_(model_for(options)),
      job_(options.job, options.input, files_of(options)),
      files_{.stop = job_.stop(), .replace = options.job.replace},
      annotated_(annotated_of(job_.input().images(), options)),
      records_(options.output, files_, result_) {
    if (annotated_.empty()) return;
    make_folder(options.annotate);
    labels_.emplace();
}

const PeopleResult& PeopleFolderJob::run() {
    job_.run<Found>(
        {.wanted = {.on_host = labels_.has_value(), .by_stages = true},
         .under_way = 1,
         .make = [this] { return Found{FoundPeople(parameters_)}; },
         .start = [this](InputFrame& frame, const FrameTime& time, Found& found) { start(frame, time, found.people); },
         .send = [this](InputFrame& frame, const FrameTime& time, Found& found) { send(frame, time, found.people); },
         .finish = [this](FirstFailure& failure, Ending ending) { failure.attempt([&] { records_.finish(ending); }); },
         .describe = [this](RunDescription& run) { records_.describe(run); }},
        result_);
    return result_;
}

// Makes detector_ one for images of this shape, or none.
void PeopleFolderJob::prepare(const Shape& shape) {
    if (shape == shape_) return;
    people_ = {};
    detector_.reset();  // its memory goes before the next one's comes
    too_small_ = without_windows(model_, parameters_, shape);
    if (too_small_.empty()) {
        detector_.emplace(model_, parameters_, shape, job_.input().executor());
        people_ = detector_->make_people();
    }
    shape_ = shape;
}

void PeopleFolderJob::start(InputFrame& frame, const FrameTime& time, FoundPeople& found) {
    auto& picture = frame.result();
    prepare(picture.shape());
    if (detector_) {
        framewire::start(*detector_, picture, people_, job_.input().executor());
        people_.wait();
        found.take(people_, parameters_.capacity);
    } else {
        spdlog::warn("{}: {} (--min-height)", job_.input().image(time), too_small_);
        found.clear();
    }
}

void PeopleFolderJob::send(InputFrame& frame, const FrameTime& time, const FoundPeople& found) {
    auto& picture = frame.result();
    const auto name = std::filesystem::path(job_.input().image(time)).filename();
    records_.write(found, picture.shape(), time, name.native());
    if (labels_) {
        found.draw(*labels_, picture.host());
        annotated_bytes_ += write_png(annotated_[static_cast<std::size_t>(time.index)], picture.host(), files_);
    }
    job_.statistics().set_sent_bytes(records_.bytes() + annotated_bytes_);
}

}  // namespace framewire::session
