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

struct TrainingParameters {
    SvmParameters svm{};  ///< but for positive_weight
    /// What an error with a positive costs, in those with a negative; 0: as many as there are negatives a positive, so
    /// that both kinds cost the same in all. Without it, few positives among many hard negatives are given up.
    double positive_weight = 0;
    int rounds = 2;  ///< of looking for hard negatives, 0 to 20
    /// Taken at random of each negative image, 1 to 10000; 0: of all together 10,000, but at least 10 of each.
    int windows = 0;
    int hard_windows = 20;    ///< most added of each negative image in a round, the worst, 1 to 10000
    double scale_step = 1.2;  ///< between the sizes of negative images, 1.05 to 2
};

template <class Aggregate>
class ParameterFields;

/// The names, ranges and help of those that a user sets.
const ParameterFields<TrainingParameters>& training_fields();

/// How a model does on the samples that it was trained on.
struct TrainingFigures {
    std::int64_t positives = 0;                ///< samples: each positive image and its mirror image
    std::int64_t negatives = 0;                ///< likewise, hard ones among them
    std::vector<std::int64_t> hard_negatives;  ///< added in each round
    std::int64_t missed = 0;                   ///< positives that do not score above 0
    std::int64_t false_alarms = 0;             ///< negatives that do
    double margin = 0;                         ///< 1 / |weights|: how far from the plane scores of 1 and -1 are
    LinearSvm svm;                             ///< its last training
};

struct TrainedModel {
    WindowModel model;
    TrainingFigures figures;
};

/// Told after each training, the first and one a round, of what there is then.
using TrainingProgress = std::function<void(const TrainingFigures& figures)>;

/// Trains the model of a window on images (Dalal and Triggs 2005, section 4): the middle of each positive image, and of
/// its mirror image; of each negative one as many windows as wanted, at random places of all its sizes, or the middle
/// where it has but one. Then, in each round, it looks at all windows of all negative images and adds those that the
/// model takes for positives and that it was not yet trained on; the rounds end when there are none. `window` brings
/// the window's size and the descriptor; its weights do not matter. The same images, parameters and seed give the same
/// model on one machine. Nothing when it was stopped. Throws Error{usage} on parameters that are not allowed, on no
/// images and on those smaller than the window, with their names, and whatever reading them throws.
std::optional<TrainedModel> train_window_model(const WindowModel& window, const TrainingImages& positives,
                                               const TrainingImages& negatives, const TrainingParameters& parameters,
                                               Executor& executor, const TrainingProgress& progress = {},
                                               const std::stop_token& stop = {});

}  // namespace framewire
