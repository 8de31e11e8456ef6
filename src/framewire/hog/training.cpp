#include "framewire/hog/training.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/parameter_fields.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <span>
#include <string>
#include <utility>

namespace framewire {
namespace {

// Number of partial sums, so that additions do not wait for each other, in an order that does not depend on the
// compiler.
constexpr std::size_t sums = 8;

// Returns the dot product in double precision.
double product(std::span<const double> weights, std::span<const float> values) {
    double sum[sums] = {};
    std::size_t i = 0;
    for (; i + sums <= values.size(); i += sums)
        for (std::size_t k = 0; k < sums; ++k) sum[k] += weights[i + k] * static_cast<double>(values[i + k]);
    for (; i < values.size(); ++i) sum[0] += weights[i] * static_cast<double>(values[i]);
    return std::accumulate(sum, sum + sums, 0.0);
}

double squared_length(std::span<const float> values) {
    double sum = 0;
    for (const float value : values) sum += static_cast<double>(value) * static_cast<double>(value);
    return sum;
}

// Rejects parameters and samples that the descent cannot handle.
void check(const SvmSamples& samples, const SvmParameters& p) {
    if (!(p.c > 0 && std::isfinite(p.c))) fail(ErrorCode::usage, "c is {}; allowed: finite numbers above 0", p.c);
    if (!(p.positive_weight > 0 && std::isfinite(p.positive_weight)))
        fail(ErrorCode::usage, "the weight of positive samples is {}; allowed: finite numbers above 0",
             p.positive_weight);
    if (!(p.tolerance > 0)) fail(ErrorCode::usage, "the tolerance is {}; it must be above 0", p.tolerance);
    if (p.most_passes < 1)
        fail(ErrorCode::usage, "the limit is {} passes over the samples; at least 1 is needed", p.most_passes);
    bool has[2] = {};
    for (std::size_t row = 0; row < samples.rows(); ++row) {
        has[samples.positive(row)] = true;
        if (!std::ranges::all_of(samples.row(row), [](float value) { return std::isfinite(value); }))
            fail(ErrorCode::usage, "sample {} has a value that is not finite", row);
    }
    if (!has[0] || !has[1])
        fail(ErrorCode::usage, "none of the {} samples is {}; training needs both kinds", samples.rows(),
             has[1] ? "negative" : "positive");
}

// Algorithm of Hsieh et al. 2008: sets each multiplier in turn to the value that minimises the dual cost, and updates
// the weights immediately.
class DualDescent {
public:
    DualDescent(const SvmSamples& samples, const SvmParameters& parameters)
        : samples_(samples), parameters_(parameters), random_(parameters.seed) {
        svm_.weights.resize(samples.values());
        alpha_.resize(samples.rows());
        order_.resize(samples.rows());
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        for (std::size_t row = 0; row < samples.rows(); ++row)
            curvature_.push_back(squared_length(samples.row(row)) + 1 + softness(row));
    }

    // Computes the duality gap only after every fourth pass.
    LinearSvm run(const std::stop_token& stop) {
        while (!svm_.converged && svm_.passes < parameters_.most_passes && !stop.stop_requested()) {
            pass();
            ++svm_.passes;
            // Computing the gap takes half as long as a pass.
            if (svm_.passes % 4 == 0 || svm_.passes == parameters_.most_passes) weigh();
        }
        return svm_;
    }

private:
    // Returns the cost of a unit of loss for a sample.
    double cost_of(std::size_t row) const {
        return samples_.positive(row) ? parameters_.c * parameters_.positive_weight : parameters_.c;
    }
    // Returns the curvature that the squared loss adds for a multiplier, or 0 for the hinge loss.
    double softness(std::size_t row) const { return parameters_.loss == SvmLoss::squared ? 1 / (2 * cost_of(row)) : 0; }
    // Returns the upper limit of a multiplier: the sample's cost for the hinge loss, no limit for the squared loss.
    double most_alpha(std::size_t row) const {
        return parameters_.loss == SvmLoss::squared ? std::numeric_limits<double>::infinity() : cost_of(row);
    }
    double sign(std::size_t row) const { return samples_.positive(row) ? 1 : -1; }
    // Returns the functional margin of a sample; at least 1 means that the sample is on the right side.
    double margin(std::size_t row) const { return sign(row) * (product(svm_.weights, samples_.row(row)) + svm_.bias); }

    // Minimises the dual cost over each multiplier in turn, in random order.
    void pass() {
        // A Fisher-Yates shuffle whose result does not depend on the standard library.
        for (std::size_t i = order_.size() - 1; i > 0; --i) std::swap(order_[i], order_[random_() % (i + 1)]);
        for (const auto row : order_) {
            // The derivative of the dual cost with respect to the multiplier.
            const double slope = margin(row) - 1 + softness(row) * alpha_[row];
            const double before = alpha_[row];
            alpha_[row] = std::clamp(before - slope / curvature_[row], 0.0, most_alpha(row));
            const double step = (alpha_[row] - before) * sign(row);
            // A multiplier that stays at its limit changes nothing.
            if (step == 0) continue;
            const auto values = samples_.row(row);
            for (std::size_t i = 0; i < values.size(); ++i) svm_.weights[i] += step * static_cast<double>(values[i]);
            svm_.bias += step;
        }
    }

    // Computes the primal cost and its distance from the dual cost, which is a lower bound of the minimum.
    void weigh() {
        double half_length = svm_.bias * svm_.bias / 2;
        for (const double weight : svm_.weights) half_length += weight * weight / 2;
        double loss = 0, dual = -half_length;
        for (std::size_t row = 0; row < samples_.rows(); ++row) {
            const double wrong = std::max(0.0, 1 - margin(row));
            loss += cost_of(row) * (parameters_.loss == SvmLoss::squared ? wrong * wrong : wrong);
            dual += alpha_[row] - softness(row) * alpha_[row] * alpha_[row] / 2;
        }
        svm_.cost = half_length + loss;
        svm_.excess = std::max(0.0, svm_.cost - dual);
        svm_.converged = svm_.excess <= parameters_.tolerance * svm_.cost;
    }

    const SvmSamples& samples_;
    const SvmParameters& parameters_;
    std::mt19937_64 random_;
    LinearSvm svm_;
    std::vector<double> alpha_, curvature_;
    std::vector<std::size_t> order_;
};

}  // namespace

LinearSvm train_linear_svm(const SvmSamples& samples, const SvmParameters& parameters, const std::stop_token& stop) {
    check(samples, parameters);
    return DualDescent(samples, parameters).run(stop);
}

namespace {

// Returns the images of a fold, or all other images. Folds are consecutive and as equal in size as possible.
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

// Finds the largest rate among the points with few enough false alarms.
double DetectionCurve::detection_rate_at(double false_alarm_rate_at_most) const {
    double rate = 0;
    for (const auto& point : points)
        if (false_alarm_rate(point) <= false_alarm_rate_at_most) rate = std::max(rate, detection_rate(point));
    return rate;
}

// Sorts both sets of scores once, so that each point takes only a binary search.
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
        // Equal scores become one point.
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

// Negative images with a single window are scored in the middle, as in training.
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

// Collects all scores before computing the curve, so that each image counts once.
std::optional<DetectionCurve> cross_validate(const WindowModel& window, const TrainingImages& positives,
                                             const TrainingImages& negatives, const TrainingParameters& parameters,
                                             int folds, Executor& executor, const FoldProgress& progress,
                                             const std::stop_token& stop) {
    const auto most = std::min(positives.size(), negatives.size());
    if (folds < 2 || static_cast<std::size_t>(folds) > most)
        fail(ErrorCode::usage, "{} folds were requested for {} positive and {} negative images; allowed: 2 to {}",
             folds, positives.size(), negatives.size(), most);
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

namespace {

void check(const WindowModel& window, const Shape& image) {
    if (image.width < window.width_px || image.height < window.height_px)
        fail(ErrorCode::usage, "an image of {}x{} pixels is smaller than the window, {}x{}", image.width, image.height,
             window.width_px, window.height_px);
}

// Copies a window's part of an image's descriptors, starting at block (`row`, `column`).
void copy_window(const float* descriptors, const HogShape& image, const HogShape& window, std::int64_t row,
                 std::int64_t column, std::span<float> values) {
    auto* to = values.data();
    for (int y = 0; y < window.rows; ++y) {
        const auto* from = descriptors + (row + y) * image.row_values() + column * image.values;
        to = std::copy(from, from + window.row_values(), to);
    }
}

// Returns the image mirrored from left to right.
HostImage mirrored_copy(HostView<const std::uint8_t> image) {
    HostImage mirrored(image.shape());
    const int width = image.shape().width, channels = image.shape().channels;
    for (int y = 0; y < image.shape().height; ++y)
        for (int x = 0; x < width; ++x)
            std::copy_n(image.row(0, y) + std::ptrdiff_t{x} * channels, channels,
                        mirrored.view().row(0, y) + std::ptrdiff_t{width - 1 - x} * channels);
    return mirrored;
}

// Returns the scales of all levels that the window fits into, starting with the image's own size.
std::vector<double> scales_of(const WindowModel& window, double step, const Shape& image) {
    check(window, image);
    std::vector<double> scales;
    for (double scale = 1; image.width / scale >= window.width_px && image.height / scale >= window.height_px;
         scale *= step)
        scales.push_back(scale);
    return scales;
}

}  // namespace

// Keeps the descriptors of all levels for copy() and score().
ImageWindows::ImageWindows(const WindowModel& window, double scale_step, HostView<const std::uint8_t> image,
                           Executor& executor)
    : window_(window_shape(window)) {
    ImagePyramid pyramid(scales_of(window, scale_step, image.shape()), image.shape(), executor,
                         hog_planes(window.hog, image.shape().channels));
    pyramid.run(image);
    for (int number = 0; number < pyramid.levels(); ++number) {
        const auto planes = pyramid.level_shape(number);
        Hog hog(window.hog, {1, planes.height, planes.width, planes.frames}, executor);
        const auto shape = hog.output_shape();
        Level level{shape,
                    {shape.rows - window_.rows + 1, shape.columns - window_.columns + 1},
                    HostBuffer(shape.bytes() + window_scores_margin_bytes)};
        hog.run(pyramid.level<MemorySpace::host>(number), {level.descriptors.as<float>(), shape});
        // The margin that scoring reads must be finite.
        std::memset(level.descriptors.data() + shape.bytes(), 0, window_scores_margin_bytes);
        levels_.push_back(std::move(level));
    }
}

std::int64_t ImageWindows::windows() const {
    std::int64_t count = 0;
    for (const auto& level : levels_) count += level.grid.count();
    return count;
}

void ImageWindows::copy(WindowPlace place, std::span<float> values) const {
    const auto& level = levels_[static_cast<std::size_t>(place.level)];
    copy_window(level.descriptors.as<float>(), level.shape, window_, place.window / level.grid.columns,
                place.window % level.grid.columns, values);
}

std::vector<float> ImageWindows::score(int level, const WindowScores& scores) const {
    const auto& [shape, grid, descriptors] = levels_[static_cast<std::size_t>(level)];
    std::vector<float> of_windows(static_cast<std::size_t>(grid.count()));
    scores.run(HogView<const float, MemorySpace::host>(descriptors.as<float>(), shape), of_windows.data());
    return of_windows;
}

void centre_descriptor(const WindowModel& window, HostView<const std::uint8_t> image, bool mirrored, Executor& executor,
                       std::span<float> values) {
    check(window, image.shape());
    HostImage copy;
    if (mirrored) {
        copy = mirrored_copy(image);
        image = copy.view();
    }
    // Excludes the pixels above and to the left of the window that do not fill a whole cell.
    const int cell = window.hog.cell;
    const int left = (image.shape().width - window.width_px) / 2, top = (image.shape().height - window.height_px) / 2;
    auto shape = image.shape();
    shape.width -= left % cell;
    shape.height -= top % cell;
    const HostView<const std::uint8_t> whole_cells(
        image.row(0, top % cell) + std::ptrdiff_t{left % cell} * shape.channels, shape, image.row_stride_bytes(),
        image.frame_stride_bytes());
    Hog hog(window.hog, shape, executor);
    HostBuffer descriptors(hog.output_shape().bytes());
    hog.run(whole_cells, {descriptors.as<float>(), hog.output_shape()});
    copy_window(descriptors.as<float>(), hog.output_shape(), window_shape(window), top / cell, left / cell, values);
}

}  // namespace framewire

// Trains by hard negative mining (Dalal and Triggs 2005):
//
//     positives, random negatives -> train -> score all negative windows -> add the worst false alarms -> train -> ...

namespace framewire {
namespace {

constexpr int most_rounds = 20, most_windows = 10'000;

void check(const TrainingImages& positives, const TrainingImages& negatives, const TrainingParameters& p) {
    if (positives.size() == 0) fail(ErrorCode::usage, "no positive images to train on");
    if (negatives.size() == 0) fail(ErrorCode::usage, "no negative images to train on");
    training_fields().check(p, "training");
    if (p.hard_windows < 1 || p.hard_windows > most_windows)
        fail(ErrorCode::usage, "the limit is {} hard windows per negative image; allowed: 1 to {}", p.hard_windows,
             most_windows);
    if (!(p.scale_step >= 1.05 && p.scale_step <= 2))
        fail(ErrorCode::usage, "the scale step is {}; allowed: 1.05 to 2", p.scale_step);
}

// State of one training run.
class Trainer {
public:
    Trainer(const WindowModel& window, const TrainingImages& positives, const TrainingImages& negatives,
            const TrainingParameters& parameters, Executor& executor, const std::stop_token& stop)
        : positives_(positives),
          negatives_(negatives),
          parameters_(parameters),
          executor_(executor),
          stop_(stop),
          samples_(static_cast<std::size_t>(window_shape(window).count())),
          taken_(negatives.size()) {
        check(positives, negatives, parameters);
        trained_.model = window;
    }

    // Takes positives and random negatives first, then hard negatives in rounds, and trains each time.
    std::optional<TrainedModel> run(const TrainingProgress& progress) {
        take_positives();
        take_random_negatives();
        train(progress);
        for (int round = 0; round < parameters_.rounds && !stop_.stop_requested(); ++round) {
            const auto before = samples_.rows();
            take_hard_negatives();
            const auto added = samples_.rows() - before;
            trained_.figures.hard_negatives.push_back(static_cast<std::int64_t>(added));
            // The model has been trained on all remaining false alarms.
            if (added == 0) break;
            train(progress);
        }
        if (stop_.stop_requested()) return std::nullopt;
        return std::move(trained_);
    }

private:
    const WindowModel& window() const { return trained_.model; }

    // Returns the number of windows per image; by default 10,000 random windows in total, but at least 10 per image.
    int windows_an_image() const {
        if (parameters_.windows > 0) return parameters_.windows;
        return std::max(10, 10'000 / static_cast<int>(std::min<std::size_t>(negatives_.size(), 10'000)));
    }

    // Adds each positive image twice, unchanged and mirrored.
    void take_positives() {
        for_each_image(positives_, stop_, [&](HostView<const std::uint8_t> image, std::size_t) {
            for (const bool mirrored : {false, true})
                centre_descriptor(window(), image, mirrored, executor_, samples_.add(true));
        });
        trained_.figures.positives = static_cast<std::int64_t>(samples_.rows());
    }

    // Draws the size first, then a window of that size.
    void take_random_negatives() {
        std::mt19937_64 random(parameters_.svm.seed);
        for_each_image(negatives_, stop_, [&](HostView<const std::uint8_t> image, std::size_t number) {
            const ImageWindows windows(window(), parameters_.scale_step, image, executor_);
            // A single window is described as in a crop: with the surroundings of the image's middle.
            if (windows.windows() == 1) {
                centre_descriptor(window(), image, false, executor_, samples_.add(false));
                taken_[number].insert(WindowPlace{});
                return;
            }
            const auto wanted = std::min<std::int64_t>(windows_an_image(), windows.windows());
            for (std::int64_t taken = 0; taken < wanted;) {
                // Each size is equally likely as long as it has windows left.
                const auto level = static_cast<int>(random() % static_cast<unsigned>(windows.levels()));
                const auto window = random() % static_cast<std::uint64_t>(windows.windows(level));
                taken += take(windows, number, {level, static_cast<std::int64_t>(window)});
            }
        });
    }

    // Scores all windows of all negative images, and takes the worst false alarms of each image that have not been
    // taken before.
    void take_hard_negatives() {
        const WindowScores scores(window(), executor_);
        for_each_image(negatives_, stop_, [&](HostView<const std::uint8_t> image, std::size_t number) {
            const ImageWindows windows(window(), parameters_.scale_step, image, executor_);
            if (windows.windows() == 1) return;                 // the only window was taken as a random negative
            std::vector<std::pair<float, WindowPlace>> alarms;  // sorted by negated score
            for (int level = 0; level < windows.levels(); ++level) {
                const auto of_level = windows.score(level, scores);
                for (std::size_t i = 0; i < of_level.size(); ++i) {
                    const WindowPlace place{level, static_cast<std::int64_t>(i)};
                    if (of_level[i] > 0 && !taken_[number].contains(place)) alarms.emplace_back(-of_level[i], place);
                }
            }
            const auto count = std::min(alarms.size(), static_cast<std::size_t>(parameters_.hard_windows));
            std::ranges::partial_sort(alarms, alarms.begin() + static_cast<std::ptrdiff_t>(count));
            for (std::size_t i = 0; i < count; ++i) take(windows, number, alarms[i].second);
        });
    }

    // Returns false if the window has already been taken.
    bool take(const ImageWindows& windows, std::size_t image, WindowPlace place) {
        if (!taken_[image].insert(place).second) return false;
        windows.copy(place, samples_.add(false));
        return true;
    }

    // Trains on all samples so far and computes the statistics of the model on them.
    void train(const TrainingProgress& progress) {
        if (stop_.stop_requested()) return;
        auto& figures = trained_.figures;
        figures.negatives = static_cast<std::int64_t>(samples_.rows()) - figures.positives;
        auto svm = parameters_.svm;
        // By default, the weight is the ratio of negatives to positives, so that both kinds cost the same in total.
        svm.positive_weight = parameters_.positive_weight == 0
                                  ? static_cast<double>(figures.negatives) / static_cast<double>(figures.positives)
                                  : parameters_.positive_weight;
        figures.svm = train_linear_svm(samples_, svm, stop_);
        const auto& weights = figures.svm.weights;
        trained_.model.weights.assign(weights.begin(), weights.end());
        trained_.model.bias = static_cast<float>(figures.svm.bias);
        figures.margin = 1 / std::sqrt(std::inner_product(weights.begin(), weights.end(), weights.begin(), 0.0));
        figures.missed = figures.false_alarms = 0;
        for (std::size_t row = 0; row < samples_.rows(); ++row) {
            const auto values = samples_.row(row);
            // A sample is found if its score is positive.
            const bool found = std::inner_product(weights.begin(), weights.end(), values.begin(), figures.svm.bias) > 0;
            figures.missed += samples_.positive(row) && !found;
            figures.false_alarms += !samples_.positive(row) && found;
        }
        if (progress) progress(figures);
    }

    const TrainingImages& positives_;
    const TrainingImages& negatives_;
    const TrainingParameters& parameters_;
    Executor& executor_;
    const std::stop_token& stop_;
    SvmSamples samples_;
    std::vector<std::set<WindowPlace>> taken_;  // windows taken from each negative image
    TrainedModel trained_;
};

}  // namespace

const ParameterFields<TrainingParameters>& training_fields() {
    using P = TrainingParameters;
    constexpr double any = std::numeric_limits<double>::infinity();
    static const ParameterFields<P> fields = {
        parameter_field<P>([](auto& all) -> auto& { return all.svm.c; },
                           {.name = "c",
                            .help = "cost of misclassification relative to a wide margin",
                            .maximum = any,
                            .above_minimum = true}),
        parameter_field(&P::positive_weight, {.name = "positive-weight",
                                              .help = "cost of misclassifying a positive relative to a negative; "
                                                      "0: balanced, so that both kinds have the same total",
                                              .maximum = any}),
        parameter_field(&P::rounds,
                        {.name = "rounds",
                         .help = "rounds of hard negative mining, each of which adds false alarms to the samples",
                         .maximum = most_rounds,
                         .unit = "N"}),
        parameter_field(&P::windows,
                        {.name = "negative-windows",
                         .help = "random windows per negative image; 0: 10000 in total, at least 10 per image",
                         .maximum = most_windows,
                         .unit = "N"}),
        parameter_field<P>([](auto& all) -> auto& { return all.svm.seed; },
                           {.name = "seed", .help = "random seed", .maximum = 0x1p62, .unit = "N"}),
    };
    return fields;
}

std::optional<TrainedModel> train_window_model(const WindowModel& window, const TrainingImages& positives,
                                               const TrainingImages& negatives, const TrainingParameters& parameters,
                                               Executor& executor, const TrainingProgress& progress,
                                               const std::stop_token& stop) {
    return Trainer(window, positives, negatives, parameters, executor, stop).run(progress);
}

}  // namespace framewire
