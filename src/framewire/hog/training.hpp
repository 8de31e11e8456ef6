#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/hog/hog.hpp"
#include "framewire/hog/pyramid.hpp"
#include "framewire/hog/window_model.hpp"
#include "framewire/hog/window_scores.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace framewire {

/// Training samples of a classifier: rows with the same number of values, each marked as positive or negative.
class SvmSamples {
public:
    /// Makes an empty set of samples with `values` values each.
    explicit SvmSamples(std::size_t values) : values_(values) {}

    /// Appends a row of zeros and returns it. The returned span is valid until the next row is appended.
    std::span<float> add(bool positive) {
        positive_.push_back(positive);
        memory_.resize(memory_.size() + values_);
        return {memory_.data() + memory_.size() - values_, values_};
    }

    /// Returns the number of values per row.
    std::size_t values() const { return values_; }
    /// Returns the number of rows.
    std::size_t rows() const { return positive_.size(); }
    /// Returns the values of a row; valid until the next row is appended.
    std::span<const float> row(std::size_t number) const { return {memory_.data() + number * values_, values_}; }
    /// Returns true if the row is a positive sample.
    bool positive(std::size_t number) const { return positive_[number]; }

private:
    std::size_t values_;
    std::vector<float> memory_;
    std::vector<bool> positive_;
};

/// Loss of a sample as a function of its distance on the wrong side of its margin.
enum class SvmLoss {
    hinge,    ///< the distance (L1-loss)
    squared,  ///< its square (L2-loss)
};

/// Parameters of train_linear_svm().
struct SvmParameters {
    double c = 0.01;  ///< cost of a unit of loss, relative to half the squared length of the weights; above 0
    SvmLoss loss = SvmLoss::hinge;
    double positive_weight = 1;  ///< factor of c for positive samples; above 0
    double tolerance = 1e-3;     ///< largest allowed duality gap, as a share of the cost; above 0
    int most_passes = 1000;      ///< maximum number of passes through the samples, 1 or more
    std::uint64_t seed = 1;      ///< seed of the order in which samples are visited
};

/// A separating hyperplane: the dot product of weights and values, plus the bias, is positive for positive samples.
struct LinearSvm {
    std::vector<double> weights;
    double bias = 0;
    double cost = 0;    ///< (|weights|^2 + bias^2) / 2 + the sum of c x loss
    double excess = 0;  ///< duality gap: the cost is above the minimum by at most this much
    int passes = 0;
    bool converged = false;  ///< true if `excess` is within the tolerance
};

/// Trains a linear support vector machine by dual coordinate descent (Hsieh, Chang, Lin, Keerthi and Sundararajan, ICML
/// 2008, algorithm 1), in double precision on the calling thread. The bias is the weight of an additional value that is
/// 1 in every sample, so it is regularised like the other weights. If a stop is requested, returns after the current
/// pass; the result is then not converged. The same samples, parameters and seed give the same bits. Throws
/// Error{usage} if the parameters are not allowed, if a value is not finite, or if all samples are of one kind.
LinearSvm train_linear_svm(const SvmSamples& samples, const SvmParameters& parameters,
                           const std::stop_token& stop = {});

/// Images that are read each time they are used, so that they need not fit into memory together.
struct TrainingImages {
    std::vector<std::string> names;                     ///< names of the images, also for messages
    std::function<HostImage(const std::string&)> read;  ///< reads the image of a name: one frame, 1 or 3 channels

    /// Returns the number of images.
    std::size_t size() const { return names.size(); }
};

/// Calls work(view, number) for each image until a stop is requested. Rethrows errors of `work` with the name of the
/// image.
template <class Work>
void for_each_image(const TrainingImages& images, const std::stop_token& stop, Work&& work) {
    for (std::size_t number = 0; number < images.size() && !stop.stop_requested(); ++number) {
        const auto image = images.read(images.names[number]);
        try {
            work(image.view(), number);
        } catch (const Error& error) {
            fail(error.code(), "{}: {}", images.names[number], error.what());
        }
    }
}

/// Parameters of train_window_model().
struct TrainingParameters {
    SvmParameters svm{};  ///< parameters of the SVM; positive_weight is ignored
    /// Cost of an error with a positive sample relative to an error with a negative sample; 0: negatives per positive,
    /// so that both kinds cost the same in total. With equal weights, training would sacrifice a few positives among
    /// many hard negatives.
    double positive_weight = 0;
    int rounds = 2;  ///< number of rounds that search for hard negatives, 0 to 20
    /// Number of random windows per negative image, 1 to 10000; 0: 10,000 in total, but at least 10 per image.
    int windows = 0;
    int hard_windows =
        20;  ///< maximum number of windows added per negative image and round, the worst first, 1 to 10000
    double scale_step = 1.2;  ///< ratio of the sizes of negative images, 1.05 to 2
};

template <class Aggregate>
class ParameterFields;

/// Returns the names, ranges and help texts of the parameters that a user can set.
const ParameterFields<TrainingParameters>& training_fields();

/// Results of a model on the samples that it was trained on.
struct TrainingStatistics {
    std::int64_t positives = 0;                ///< number of positive samples: each positive image and its mirror image
    std::int64_t negatives = 0;                ///< number of negative samples, including hard ones
    std::vector<std::int64_t> hard_negatives;  ///< number of hard negatives added in each round
    std::int64_t missed = 0;                   ///< number of positives that do not score above 0
    std::int64_t false_alarms = 0;             ///< number of negatives that score above 0
    double margin = 0;                         ///< 1 / |weights|: distance of scores of 1 and -1 from the hyperplane
    LinearSvm svm;                             ///< result of the last training
};

/// A model with the statistics of its training.
struct TrainedModel {
    WindowModel model;
    TrainingStatistics figures;
};

/// Called with the statistics so far after the first training and after the training of each round.
using TrainingProgress = std::function<void(const TrainingStatistics& figures)>;

/// Trains the model of a window on images (Dalal and Triggs 2005, section 4). Positive samples are the middle of each
/// positive image and of its mirror image. Negative samples are random windows of each negative image at all sizes, or
/// its middle if it has only one window. Each round then scores all windows of all negative images and adds those with
/// a positive score that the model has not been trained on; rounds end when there are no such windows. `window`
/// specifies the size of the window and the descriptor; its weights are ignored. The same images, parameters and seed
/// give the same model on one machine. Returns nothing if a stop was requested. Throws Error{usage} if the parameters
/// are not allowed, if there are no images, or if an image is smaller than the window (with the image's name), and the
/// errors of reading an image.
std::optional<TrainedModel> train_window_model(const WindowModel& window, const TrainingImages& positives,
                                               const TrainingImages& negatives, const TrainingParameters& parameters,
                                               Executor& executor, const TrainingProgress& progress = {},
                                               const std::stop_token& stop = {});

/// Results at one threshold.
struct DetectionPoint {
    float threshold = 0;
    std::int64_t detections = 0;    ///< number of positives that score at least the threshold
    std::int64_t false_alarms = 0;  ///< number of negatives that score at least the threshold
};

/// Number of detected positives and number of negatives taken for positives, for each threshold.
struct DetectionCurve {
    std::int64_t positives = 0;
    std::int64_t negatives = 0;
    /// One point for each distinct score of a positive, the highest first. Between two points, only the number of false
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
    /// Returns the largest detection rate with at most this many false alarms per window, or 0 if no threshold has so
    /// few.
    double detection_rate_at(double false_alarm_rate_at_most) const;
};

/// Returns the curve of these scores. Throws Error{usage} if there are no positives or no negatives.
DetectionCurve detection_curve(std::vector<float> positives, std::vector<float> negatives);

/// Returns the curve as CSV: a header line, then a line per point with threshold, detections, positives,
/// false_alarms, windows (negatives), detection_rate and false_alarms_per_window.
std::string to_csv(const DetectionCurve& curve);

/// Scores of a model for images of both kinds.
struct ImageScores {
    std::vector<float> positives, negatives;
};

/// Appends the scores of images: of the middle of each positive image, and of all windows of each negative image at all
/// sizes, `scale_step` apart, or of its middle if it has only one window. Ends early if a stop is requested. Throws the
/// errors of train_window_model() that concern images.
void score_images(const WindowModel& model, const TrainingImages& positives, const TrainingImages& negatives,
                  double scale_step, Executor& executor, const std::stop_token& stop, ImageScores& scores);

/// Called after each fold with its 1-based number.
using FoldProgress = std::function<void(int fold)>;

/// Cross-validates the training. Both sets of images are divided into `folds` parts of consecutive images (which in a
/// folder often show the same scene). Each part is scored by a model that train_window_model() has trained on the other
/// parts: the middle of each positive image, and all windows of each negative image at all sizes, or its middle if it
/// has only one window. The curve is computed from the scores of all parts. Returns nothing if a stop was requested.
/// Throws the errors of train_window_model(), and Error{usage} unless `folds` is from 2 to the number of images of each
/// kind.
std::optional<DetectionCurve> cross_validate(const WindowModel& window, const TrainingImages& positives,
                                             const TrainingImages& negatives, const TrainingParameters& parameters,
                                             int folds, Executor& executor, const FoldProgress& progress = {},
                                             const std::stop_token& stop = {});

/// A window of an image: its level in the pyramid, and its index within the level, row by row.
struct WindowPlace {
    int level = 0;
    std::int64_t window = 0;

    friend auto operator<=>(const WindowPlace&, const WindowPlace&) = default;
};

/// All windows of one image on the CPU, one per cell, as the people detector scores them: at the image's own size and,
/// `scale_step` apart, at all smaller sizes that the window fits into.
class ImageWindows {
public:
    /// Computes the descriptors. Throws Error{usage} if the image is smaller than the window.
    ImageWindows(const WindowModel& window, double scale_step, HostView<const std::uint8_t> image, Executor& executor);

    /// Returns the number of sizes.
    int levels() const { return static_cast<int>(levels_.size()); }
    /// Returns the number of windows of one size.
    std::int64_t windows(int level) const { return levels_[static_cast<std::size_t>(level)].grid.count(); }
    std::int64_t windows() const;  ///< number of windows of all sizes

    /// Copies the descriptor of a window; `values` must have as many values as the descriptor.
    void copy(WindowPlace place, std::span<float> values) const;

    /// Returns the scores of a level's windows. `scores` must have been made for a model of the same window.
    std::vector<float> score(int level, const WindowScores& scores) const;

private:
    struct Level {
        HogShape shape;
        WindowGrid grid;
        HostBuffer descriptors;
    };

    HogShape window_;
    std::vector<Level> levels_;
};

/// Computes the descriptor of the window in the middle of an image, or of its mirror image, and writes it to `values`.
/// As in a larger image, the surroundings of the window contribute to the gamma and to the gradients of the window's
/// outermost pixels. Throws Error{usage} if the image is smaller than the window.
void centre_descriptor(const WindowModel& window, HostView<const std::uint8_t> image, bool mirrored, Executor& executor,
                       std::span<float> values);

}  // namespace framewire
