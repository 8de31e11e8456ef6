#pragma once

#include "framewire/cuda/executor.hpp"
#include "framewire/hog/training/linear_svm.hpp"
#include "framewire/hog/training/training_images.hpp"
#include "framewire/hog/window_model.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

namespace framewire {

/// Parameters of train_window_model().
struct TrainingParameters {
    SvmParameters svm{};  ///< all but positive_weight
    /// Cost of an error with a positive sample relative to one with a negative; 0: negatives per positive, so
    /// that both kinds cost the same in total. Without this, few positives among many hard negatives are
    /// sacrificed.
    double positive_weight = 0;
    int rounds = 2;  ///< rounds of searching for hard negatives, 0 to 20
    /// Random windows per negative image, 1 to 10000; 0: 10,000 in total, but at least 10 per image.
    int windows = 0;
    int hard_windows = 20;    ///< most windows added per negative image and round, the worst first, 1 to 10000
    double scale_step = 1.2;  ///< ratio of the sizes of negative images, 1.05 to 2
};

template <class Aggregate>
class ParameterFields;

/// Returns names, ranges and help of the parameters that a user can set.
const ParameterFields<TrainingParameters>& training_fields();

/// Results of a model on the samples that it was trained on.
struct TrainingFigures {
    std::int64_t positives = 0;                ///< samples: each positive image and its mirror image
    std::int64_t negatives = 0;                ///< samples, including hard ones
    std::vector<std::int64_t> hard_negatives;  ///< number added in each round
    std::int64_t missed = 0;                   ///< positives that do not score above 0
    std::int64_t false_alarms = 0;             ///< negatives that score above 0
    double margin = 0;                         ///< 1 / |weights|: distance of scores of 1 and -1 from the hyperplane
    LinearSvm svm;                             ///< result of the last training
};

/// A model with the statistics of its training.
struct TrainedModel {
    WindowModel model;
    TrainingFigures figures;
};

/// Called after each training, the first one and one per round, with the statistics so far.
using TrainingProgress = std::function<void(const TrainingFigures& figures)>;

/// Trains the model of a window on images (Dalal and Triggs 2005, section 4). Positive samples are the middle
/// of each positive image and of its mirror image. Negative samples are random windows of each negative image
/// at all sizes, or its middle if it has only one window. Then each round scores all windows of all negative
/// images and adds those that the model takes for positives and that it has not been trained on; the rounds end
/// when there are none. `window` gives the size of the window and the descriptor; its weights are ignored. The
/// same images, parameters and seed give the same model on one machine. Returns nothing if it was stopped.
/// Throws Error{usage} if the parameters are not allowed, if there are no images, or if an image is smaller
/// than the window (with its name), and whatever reading an image throws.
std::optional<TrainedModel> train_window_model(const WindowModel& window, const TrainingImages& positives,
                                               const TrainingImages& negatives, const TrainingParameters& parameters,
                                               Executor& executor, const TrainingProgress& progress = {},
                                               const std::stop_token& stop = {});

}  // namespace framewire
