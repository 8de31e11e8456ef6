#include "framewire/session/hog/train_job.hpp"

#include "framewire/core/error.hpp"
#include "framewire/media/formats/window_model_file.hpp"
#include "framewire/media/images/image_folder.hpp"
#include "framewire/media/media.hpp"

namespace framewire::session {
namespace {

TrainingImages images_of(const std::string& folder, const std::stop_token& stop) {
    return {images_in(folder), [stop](const std::string& path) {
                const auto source = open_source(path, {.stop = stop});
                HostImage image(source->info().shape);
                FrameTime time;
                if (!source->read(image.view(), time)) fail(ErrorCode::source_lost, "{} has no image", path);
                return image;
            }};
}

}  // namespace

JobFiles files_of(const TrainOptions& options) {
    return JobFiles()
        .source(options.positives)
        .source(options.negatives)
        .output("-o", options.output)
        .output("--curve", options.curve);
}

TrainJob::TrainJob(const TrainOptions& options)
    : options_(options),
      positives_(images_of(options.positives, options.stop)),
      negatives_(images_of(options.negatives, options.stop)),
      executor_(BackendChoice::cpu, options.threads) {
    files_of(options).require_different();
    window_shape(options.window);
    const OutputFile can_be_written(options.output, files());
    if (!options.curve.empty()) curve_file_.emplace(options.curve, files());
}

std::optional<TrainedModel> TrainJob::run() {
    if (options_.folds && !validate()) return {};
    auto trained = train_window_model(options_.window, positives_, negatives_, options_.training, executor_,
                                      options_.on_training, options_.stop);
    if (!trained) return {};
    if (curve_file_) curve_file_->finish();
    write_window_model(options_.output, trained->model, files());
    return trained;
}

// False when it was stopped.
bool TrainJob::validate() {
    curve_ = cross_validate(options_.window, positives_, negatives_, options_.training, *options_.folds, executor_,
                            options_.on_fold, options_.stop);
    if (!curve_) return false;
    if (options_.on_curve) options_.on_curve(*curve_);
    if (curve_file_) {
        const auto text = to_csv(*curve_);
        curve_file_->write(text.data(), text.size());
    }
    return true;
}

}  // namespace framewire::session
