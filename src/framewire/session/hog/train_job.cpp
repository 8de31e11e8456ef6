#include "framewire/session/hog/train_job.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/parameters/fields.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/media/files/output_file.hpp"
#include "framewire/media/formats/window_model_file.hpp"
#include "framewire/media/images/image_folder.hpp"
#include "framewire/media/media.hpp"

namespace framewire::session {

const ParameterFields<TrainOptions>& train_fields() {
    static const ParameterFields<TrainOptions> fields = {parameter_field(
        &TrainOptions::folds, {.name = "folds",
                               .help = "also say what models of the other images find in each of so many parts",
                               .minimum = 2,
                               .maximum = 1e6,
                               .unit = "N"})};
    return fields;
}
namespace {

// Lists a folder; images are loaded when the training needs them.
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
        .output("-o", options.output, {"models", {".npy"}})
        .output("--curve", options.curve, {"curves", {".csv"}});
}

struct TrainJob::State {
    explicit State(const TrainOptions& asked);

    std::optional<TrainedModel> run();
    OutputFileOptions files() const { return {.stop = options.stop, .replace = options.replace}; }
    bool validate();

    TrainOptions options;
    TrainingImages positives, negatives;
    Executor executor;
    std::optional<OutputFile> curve_file;
    std::optional<DetectionCurve> curve;
};

TrainJob::State::State(const TrainOptions& asked)
    : options(asked),
      positives(images_of(options.positives, options.stop)),
      negatives(images_of(options.negatives, options.stop)),
      executor(BackendChoice::cpu, options.threads) {
    files_of(options).require_different();
    window_shape(options.window);
    // Opened and dropped: an unwritable path is reported before the training.
    const OutputFile can_be_written(options.output, files());
    if (!options.curve.empty()) curve_file.emplace(options.curve, files());
}

std::optional<TrainedModel> TrainJob::State::run() {
    if (options.folds && !validate()) return {};
    auto trained = train_window_model(options.window, positives, negatives, options.training, executor,
                                      options.on_training, options.stop);
    if (!trained) return {};
    if (curve_file) curve_file->finish();
    write_window_model(options.output, trained->model, files());
    return trained;
}

// Runs the cross-validation. Returns false if it was stopped.
bool TrainJob::State::validate() {
    curve = cross_validate(options.window, positives, negatives, options.training, *options.folds, executor,
                           options.on_fold, options.stop);
    if (!curve) return false;
    if (options.on_curve) options.on_curve(*curve);
    if (curve_file) {
        const auto text = to_csv(*curve);
        curve_file->write(text.data(), text.size());
    }
    return true;
}

TrainJob::TrainJob(const TrainOptions& options) : state_(std::make_unique<State>(options)) {}
TrainJob::~TrainJob() = default;

const TrainingImages& TrainJob::positives() const { return state_->positives; }
const TrainingImages& TrainJob::negatives() const { return state_->negatives; }
std::optional<TrainedModel> TrainJob::run() { return state_->run(); }
const std::optional<DetectionCurve>& TrainJob::curve() const { return state_->curve; }

}  // namespace framewire::session
