#pragma once

#include "framewire/hog/training/detection_curve.hpp"
#include "framewire/hog/training/window_trainer.hpp"
#include "framewire/session/job/job_files.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace framewire {
template <class Aggregate>
class ParameterFields;
}

namespace framewire::session {

/// Options of a TrainJob, which runs on the CPU.
struct TrainOptions {
    /// Folders of images with and without the object to be detected.
    std::string positives{}, negatives{};
    /// Window size and descriptor; without weights.
    WindowModel window{};
    TrainingParameters training{};
    /// Optional. Number of folds of a cross-validation before the training.
    std::optional<int> folds{};
    /// File for the model.
    std::string output{};
    /// Optional. File for the curve of the cross-validation.
    std::string curve{};
    /// Number of threads; 0 uses all processors.
    int threads = 0;
    /// If true, existing output files are replaced; otherwise they are an error.
    bool replace = false;
    /// Ends the job early, without a model.
    std::stop_token stop{};

    /// Optional. Progress of the cross-validation.
    FoldProgress on_fold{};
    /// Optional. Called when all folds are done.
    std::function<void(const DetectionCurve& curve)> on_curve{};
    /// Optional. Progress of the training.
    TrainingProgress on_training{};
};

/// Range and help of `folds`.
const ParameterFields<TrainOptions>& train_fields();

/// Returns the files that these options read and write.
JobFiles files_of(const TrainOptions& options);

/// Trains a linear window detector from two folders of images, and writes the model and the curve of its
/// cross-validation. A job runs once.
class TrainJob {
public:
    /// Lists the images and checks that the outputs can be written. Throws as images_in(), Executor, window_shape() and
    /// OutputFile do.
    explicit TrainJob(const TrainOptions& options);
    ~TrainJob();

    /// Images with the object. They are read when the training needs them.
    const TrainingImages& positives() const;
    /// Images without the object.
    const TrainingImages& negatives() const;

    /// Trains and writes the model; may be called once. Empty if it was stopped. Throws as cross_validate() and
    /// train_window_model() do, and Error{io}.
    std::optional<TrainedModel> run();
    /// Curve of the cross-validation; empty if none was requested or it was stopped.
    const std::optional<DetectionCurve>& curve() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::session
