#include "framewire/hog/training/detection_curve.hpp"

#include "framewire/core/error.hpp"
#include "framewire/hog/training/image_windows.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace framewire {
namespace {

// Returns the images of a fold, or all others. Folds are consecutive and as equal in size as possible.
TrainingImages part(const TrainingImages& images, int fold, int folds, bool of_fold) {
    const auto begin = [&](int number) {
        return images.size() * static_cast<std::size_t>(number) / static_cast<std::size_t>(folds);
    };
    TrainingImages some{{}, images.read};
    for (std::size_t i = 0; i < images.size(); ++i)
        if ((i >= begin(fold) && i < begin(fold + 1)) == of_fold) some.names.push_back(images.names[i]);
    return some;
}

// Returns the score of the window in the middle of an image.
float centre_score(const WindowModel& model, HostView<const std::uint8_t> image, Executor& executor) {
    std::vector<float> values(model.weights.size());
    centre_descriptor(model, image, false, executor, values);
    return static_cast<float>(
        std::inner_product(values.begin(), values.end(), model.weights.begin(), static_cast<double>(model.bias)));
}

}  // namespace

// The largest rate of all points with few enough false alarms.
double DetectionCurve::detection_rate_at(double false_alarm_rate_at_most) const {
    double rate = 0;
    for (const auto& point : points)
        if (false_alarm_rate(point) <= false_alarm_rate_at_most) rate = std::max(rate, detection_rate(point));
    return rate;
}

// Sorts both sets of scores once; each point then takes a binary search.
DetectionCurve detection_curve(std::vector<float> positives, std::vector<float> negatives) {
    if (positives.empty() || negatives.empty())
        fail(ErrorCode::usage, "{} positives and {} negatives; a curve needs both", positives.size(), negatives.size());
    std::ranges::sort(positives, std::greater());
    std::ranges::sort(negatives, std::greater());
    DetectionCurve curve{static_cast<std::int64_t>(positives.size()), static_cast<std::int64_t>(negatives.size()), {}};
    const auto no_less = [](const std::vector<float>& scores, float threshold) {
        return std::ranges::upper_bound(scores, threshold, std::greater()) - scores.begin();
    };
    for (std::size_t i = 0; i < positives.size(); ++i)
        // Equal scores make one point.
        if (i + 1 == positives.size() || positives[i + 1] != positives[i])
            curve.points.push_back({positives[i], static_cast<std::int64_t>(i) + 1, no_less(negatives, positives[i])});
    return curve;
}

std::string to_csv(const DetectionCurve& curve) {
    std::string text = "threshold,detections,positives,false_alarms,windows,detection_rate,false_alarms_per_window\n";
    for (const auto& point : curve.points)
        text += fmt::format("{},{},{},{},{},{},{}\n", point.threshold, point.detections, curve.positives,
                            point.false_alarms, curve.negatives, curve.detection_rate(point),
                            curve.false_alarm_rate(point));
    return text;
}

// Negative images with a single window are scored in their middle, as training does.
void score_images(const WindowModel& model, const TrainingImages& positives, const TrainingImages& negatives,
                  double scale_step, Executor& executor, const std::stop_token& stop, ImageScores& scores) {
    const WindowScores window_scores(model, executor);
    for_each_image(positives, stop, [&](HostView<const std::uint8_t> image, std::size_t) {
        scores.positives.push_back(centre_score(model, image, executor));
    });
    for_each_image(negatives, stop, [&](HostView<const std::uint8_t> image, std::size_t) {
        const ImageWindows windows(model, scale_step, image, executor);
        if (windows.windows() == 1) {
            scores.negatives.push_back(centre_score(model, image, executor));
            return;
        }
        for (int level = 0; level < windows.levels(); ++level) {
            const auto of_level = windows.score(level, window_scores);
            scores.negatives.insert(scores.negatives.end(), of_level.begin(), of_level.end());
        }
    });
}

// All scores are collected before the curve is made, so each image counts once.
std::optional<DetectionCurve> cross_validate(const WindowModel& window, const TrainingImages& positives,
                                             const TrainingImages& negatives, const TrainingParameters& parameters,
                                             int folds, Executor& executor, const FoldProgress& progress,
                                             const std::stop_token& stop) {
    const auto most = std::min(positives.size(), negatives.size());
    if (folds < 2 || static_cast<std::size_t>(folds) > most)
        fail(ErrorCode::usage, "{} folds of {} positive and {} negative images; allowed are 2 to {}", folds,
             positives.size(), negatives.size(), most);
    ImageScores scores;
    for (int fold = 0; fold < folds; ++fold) {
        const auto trained = train_window_model(window, part(positives, fold, folds, false),
                                                part(negatives, fold, folds, false), parameters, executor, {}, stop);
        if (!trained) return std::nullopt;
        score_images(trained->model, part(positives, fold, folds, true), part(negatives, fold, folds, true),
                     parameters.scale_step, executor, stop, scores);
        if (stop.stop_requested()) return std::nullopt;
        if (progress) progress(fold + 1);
    }
    return detection_curve(std::move(scores.positives), std::move(scores.negatives));
}

}  // namespace framewire
