#include "commands/hog/hog_people_folder.hpp"

#include "commands/hog/hog_output.hpp"
#include "commands/hog/hog_people_output.hpp"
#include "jobs/folder_walk.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/media/formats/window_model_file.hpp"
#include "framewire/pipeline/frames/frame_people.hpp"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace framewire::app {
namespace {

WindowModel model_for(const HogOptions& options, const PeopleOptions& people, const std::stop_token& stop) {
    auto model = read_window_model(people.model, window_of(options), stop);
    validate(model, people.parameters);  // not only when the first image is there
    return model;
}

std::vector<std::string> annotated_of(const std::vector<std::string>& images, const HogOptions& options,
                                      const PeopleOptions& people) {
    if (people.annotate.empty()) return {};
    if (!is_output_folder(people.annotate))
        fail(ErrorCode::usage, "--annotate {}: the images of a folder go into a folder, {}/", people.annotate,
             people.annotate);
    if (is_same_folder(people.annotate, options.input.source))
        fail(ErrorCode::usage, "--annotate {} is the folder of -i; another is needed, for images there would be lost",
             people.annotate);
    return outputs_of(images, people.annotate, ".png");
}

class FindPeopleInFolder {
public:
    FindPeopleInFolder(const HogOptions& options, const PeopleOptions& people, const std::stop_source& stop)
        : parameters_(people.parameters),
          files_{stop.get_token(), options.common.replace},
          model_(model_for(options, people, stop.get_token())),
          walk_(options.input, options.common, stop),
          annotated_(annotated_of(walk_.images(), options, people)),
          output_(options, people.parameters, files_),
          stop_(stop) {
        if (annotated_.empty()) return;
        make_folder(people.annotate);
        labels_.emplace();
    }

    void operator()() {
        auto circle = walk_.circle();
        circle.let_wait(1);  // who is in an image is known when its process ends
        for (int slot = 0; slot < circle.slots; ++slot) found_.emplace_back(parameters_);
        FirstFailure failure;
        failure.attempt([&] {
            walk_.run(
                {.process = [&](int slot, FolderImage& image) { find(at(slot), image); },
                 .send = [&](int slot, FolderImage& image, const FrameTime& time) { send(at(slot), image, time); }},
                circle, {.on_host = labels_.has_value(), .by_stages = true});
        });
        const auto ending = ending_of(failure, stop_, false);
        failure.attempt([&] { output_.finish(ending); });
        const auto figures = walk_.statistics().snapshot();
        auto run = walk_.description();
        run.filters.push_back(output_.figures());
        failure.attempt([&] { walk_.write_statistics(figures, run); });
        failure.rethrow();
        output_.report(figures, run, model_, nullptr);
    }

private:
    FoundPeople& at(int slot) { return found_[static_cast<std::size_t>(slot)]; }

    // Makes detector_ one for images of this shape, or none.
    void prepare(const Shape& shape) {
        if (shape == shape_) return;
        people_ = {};
        detector_.reset();  // its memory goes before the next one's comes
        too_small_ = without_windows(model_, parameters_, shape);
        if (too_small_.empty()) {
            detector_.emplace(model_, parameters_, shape, walk_.executor());
            people_ = detector_->make_people();
        }
        shape_ = shape;
    }

    void find(FoundPeople& found, FolderImage& image) {
        auto& picture = image.frame.result();
        prepare(picture.shape());
        if (detector_) {
            start(*detector_, picture, people_, walk_.executor());
            people_.wait();
            found.take(people_, parameters_.capacity);
        } else {
            log_warning("{}: {} (--min-height)", walk_.images()[image.number], too_small_);
            found.clear();
        }
    }

    void send(const FoundPeople& found, FolderImage& image, const FrameTime& time) {
        auto& picture = image.frame.result();
        output_.write(found, picture.shape(), time,
                      std::filesystem::path(walk_.images()[image.number]).filename().native());
        if (labels_) {
            found.draw(*labels_, picture.host());
            annotated_bytes_ += write_png(annotated_[image.number], picture.host(), files_);
        }
        walk_.statistics().set_sent_bytes(output_.bytes() + annotated_bytes_);
    }

    const PeopleParameters& parameters_;
    OutputFileOptions files_;
    // In this order, so that what is cheap to refuse is refused first and outputs are touched last.
    WindowModel model_;
    FolderWalk walk_;
    std::vector<std::string> annotated_;  // of each image, or none at all
    PeopleOutput output_;
    std::stop_source stop_;
    std::optional<ScoreLabels> labels_;  // where images are annotated

    std::optional<PeopleDetector> detector_;
    DetectedPeople people_;  // in the last image
    Shape shape_{};          // what detector_ is for
    std::string too_small_;  // why there is none
    std::vector<FoundPeople> found_;
    std::int64_t annotated_bytes_ = 0;
};

}  // namespace

void find_people_in_folder(const HogOptions& options, const PeopleOptions& people, const std::stop_source& stop) {
    FindPeopleInFolder(options, people, stop)();
}

}  // namespace framewire::app
