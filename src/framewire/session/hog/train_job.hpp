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

/// What a model is trained by, on the CPU.
struct TrainOptions {
    std::string positives{}, negatives{};  ///< folders of images with and without what is to be found in them
    WindowModel window{};                  ///< its size and descriptor; without weights
    TrainingParameters training{};
    std::optional<int> folds{};  ///< of a cross-validation before; none: not wanted
    std::string output{};        ///< the model's file
    std::string curve{};         ///< the file of the cross-validation's curve; empty: none wanted
    int threads = 0;             ///< 0 takes all the machine has
    bool replace = false;        ///< outputs that are there already give way; else they are refused
    std::stop_token stop{};

    FoldProgress on_fold{};
    std::function<void(const DetectionCurve& curve)> on_curve{};  ///< once all folds are done
    TrainingProgress on_training{};
};

/// The range and help of `folds`.
const ParameterFields<TrainOptions>& train_fields();

/// What these options read and write.
JobFiles files_of(const TrainOptions& options);

/// From folders of images to a model's file, which appears when it is whole, and to the curve of its cross-validation.
/// For one run.
class TrainJob {
public:
    /// Looks at what is there, and tries whether the outputs can be written. Throws as images_in(), Executor,
    /// window_shape() and OutputFile do.
    explicit TrainJob(const TrainOptions& options);
    ~TrainJob();

    const TrainingImages& positives() const;
    const TrainingImages& negatives() const;

    /// To be called once; nothing when it was stopped. Throws as cross_validate() and train_window_model() do, and
    /// Error{io}.
    std::optional<TrainedModel> run();
    /// Of the cross-validation, where one is wanted and was not stopped.
    const std::optional<DetectionCurve>& curve() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::session
