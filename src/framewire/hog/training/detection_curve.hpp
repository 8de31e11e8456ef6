#pragma once

#include "framewire/hog/training/window_trainer.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace framewire {

/// What one threshold of scores would give.
struct DetectionPoint {
    float threshold = 0;
    std::int64_t detections = 0;    ///< positives that score no less
    std::int64_t false_alarms = 0;  ///< negatives that do
};

/// How many positives are found against how many negatives are taken for one, threshold by threshold.
struct DetectionCurve {
    std::int64_t positives = 0;
    std::int64_t negatives = 0;
    /// One for each score that a positive has, the highest first: between two of them fewer or more are found only by
    /// false alarms.
    std::vector<DetectionPoint> points;

    double detection_rate(const DetectionPoint& point) const {
        return static_cast<double>(point.detections) / static_cast<double>(positives);
    }
    double false_alarm_rate(const DetectionPoint& point) const {
        return static_cast<double>(point.false_alarms) / static_cast<double>(negatives);
    }
    /// The largest detection rate with at most so many false alarms a window; 0 when no threshold has as few.
    double detection_rate_at(double false_alarm_rate_at_most) const;
};

/// The curve of these scores. Throws Error{usage} without positives or negatives.
DetectionCurve detection_curve(std::vector<float> positives, std::vector<float> negatives);

/// A line for each point, with a line of names before them: threshold, detections, positives, false_alarms, windows
/// (negatives), detection_rate, false_alarms_per_window.
std::string to_csv(const DetectionCurve& curve);

/// The scores that a model gives.
struct ImageScores {
    std::vector<float> positives, negatives;
};

/// Adds the scores of images: of each positive one the middle, of each negative one all windows of all sizes,
/// `scale_step` apart, or the middle where it has but one. Ends early when a stop is asked for. Throws as
/// train_window_model() does on images.
void score_images(const WindowModel& model, const TrainingImages& positives, const TrainingImages& negatives,
                  double scale_step, Executor& executor, const std::stop_token& stop, ImageScores& scores);

/// Told after each fold: its number from 1 on.
using FoldProgress = std::function<void(int fold)>;

/// Cross-validation: both sets of images in `folds` parts of neighbours (which in a folder are often pictures of the
/// same), each part scored by a model trained, as train_window_model() does, on the others: the middle of each positive
/// image, and of each negative one all windows of all sizes, or the middle where it has but one. The scores of all
/// parts together make the curve. Nothing when it was stopped. Throws as train_window_model() does, and Error{usage} on
/// fewer than 2 folds or more than there are images of a kind.
std::optional<DetectionCurve> cross_validate(const WindowModel& window, const TrainingImages& positives,
                                             const TrainingImages& negatives, const TrainingParameters& parameters,
                                             int folds, Executor& executor, const FoldProgress& progress = {},
                                             const std::stop_token& stop = {});

}  // namespace framewire
