#pragma once

#include "framewire/hog/training/window_trainer.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace framewire {

/// Results at one threshold of the score.
struct DetectionPoint {
    float threshold = 0;
    std::int64_t detections = 0;    ///< positives that score at least the threshold
    std::int64_t false_alarms = 0;  ///< negatives that do
};

/// Number of positives that are found against the number of negatives that are taken for positives, threshold
/// by threshold.
struct DetectionCurve {
    std::int64_t positives = 0;
    std::int64_t negatives = 0;
    /// One point per score of a positive, the highest first: between two of them only the number of false
    /// alarms changes.
    std::vector<DetectionPoint> points;

    /// Returns the detections per positive.
    double detection_rate(const DetectionPoint& point) const {
        return static_cast<double>(point.detections) / static_cast<double>(positives);
    }
    /// Returns the false alarms per window.
    double false_alarm_rate(const DetectionPoint& point) const {
        return static_cast<double>(point.false_alarms) / static_cast<double>(negatives);
    }
    /// Returns the largest detection rate with at most this many false alarms per window; 0 if no threshold has
    /// so few.
    double detection_rate_at(double false_alarm_rate_at_most) const;
};

/// Returns the curve of these scores. Throws Error{usage} if there are no positives or no negatives.
DetectionCurve detection_curve(std::vector<float> positives, std::vector<float> negatives);

/// Returns the curve as CSV: a header line, then a line per point with threshold, detections, positives,
/// false_alarms, windows (negatives), detection_rate and false_alarms_per_window.
std::string to_csv(const DetectionCurve& curve);

/// Scores of a model.
struct ImageScores {
    std::vector<float> positives, negatives;
};

/// Appends the scores of images: the middle of each positive image, and all windows of all sizes, `scale_step`
/// apart, of each negative image, or its middle if it has only one window. Ends early if a stop is requested.
/// Throws what train_window_model() throws for images.
void score_images(const WindowModel& model, const TrainingImages& positives, const TrainingImages& negatives,
                  double scale_step, Executor& executor, const std::stop_token& stop, ImageScores& scores);

/// Called after each fold with its 1-based number.
using FoldProgress = std::function<void(int fold)>;

/// Cross-validation. Both sets of images are divided into `folds` parts of consecutive images (which in a
/// folder often show the same scene). Each part is scored by a model that train_window_model() has trained on
/// the other parts: the middle of each positive image, and all windows of all sizes of each negative image, or
/// its middle if it has only one. The scores of all parts together make the curve. Returns nothing if it was
/// stopped. Throws what train_window_model() throws, and Error{usage} unless `folds` is from 2 to the number of
/// images of each kind.
std::optional<DetectionCurve> cross_validate(const WindowModel& window, const TrainingImages& positives,
                                             const TrainingImages& negatives, const TrainingParameters& parameters,
                                             int folds, Executor& executor, const FoldProgress& progress = {},
                                             const std::stop_token& stop = {});

}  // namespace framewire
