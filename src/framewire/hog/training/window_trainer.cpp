#include "framewire/hog/training/window_trainer.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/parameters/fields.hpp"
#include "framewire/hog/training/image_windows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <utility>

// Training by hard negative mining (Dalal and Triggs 2005):
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
        fail(ErrorCode::usage, "{} hard windows of a negative image; allowed are 1 to {}", p.hard_windows,
             most_windows);
    if (!(p.scale_step >= 1.05 && p.scale_step <= 2))
        fail(ErrorCode::usage, "a scale step of {}; allowed are 1.05 to 2", p.scale_step);
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

    // First positives and random negatives, then rounds of hard negatives, each followed by a training.
    std::optional<TrainedModel> run(const TrainingProgress& progress) {
        take_positives();
        take_random_negatives();
        train(progress);
        for (int round = 0; round < parameters_.rounds && !stop_.stop_requested(); ++round) {
            const auto before = samples_.rows();
            take_hard_negatives();
            const auto added = samples_.rows() - before;
            trained_.figures.hard_negatives.push_back(static_cast<std::int64_t>(added));
            // No false alarms are left that the model has not been trained on.
            if (added == 0) break;
            train(progress);
        }
        if (stop_.stop_requested()) return std::nullopt;
        return std::move(trained_);
    }

private:
    const WindowModel& window() const { return trained_.model; }

    // By default 10,000 random windows in total, but at least 10 per image.
    int windows_an_image() const {
        if (parameters_.windows > 0) return parameters_.windows;
        return std::max(10, 10'000 / static_cast<int>(std::min<std::size_t>(negatives_.size(), 10'000)));
    }

    // Every positive image counts twice, as it is and mirrored.
    void take_positives() {
        for_each_image(positives_, stop_, [&](HostView<const std::uint8_t> image, std::size_t) {
            for (const bool mirrored : {false, true})
                centre_descriptor(window(), image, mirrored, executor_, samples_.add(true));
        });
        trained_.figures.positives = static_cast<std::int64_t>(samples_.rows());
    }

    // The size is drawn first, then a window of that size.
    void take_random_negatives() {
        std::mt19937_64 random(parameters_.svm.seed);
        for_each_image(negatives_, stop_, [&](HostView<const std::uint8_t> image, std::size_t number) {
            const ImageWindows windows(window(), parameters_.scale_step, image, executor_);
            // The only window is described as in a crop: with the surroundings of the image's middle.
            if (windows.windows() == 1) {
                centre_descriptor(window(), image, false, executor_, samples_.add(false));
                taken_[number].insert(WindowPlace{});
                return;
            }
            const auto wanted = std::min<std::int64_t>(windows_an_image(), windows.windows());
            for (std::int64_t taken = 0; taken < wanted;) {
                // Each size is equally likely until it has no more windows.
                const auto level = static_cast<int>(random() % static_cast<unsigned>(windows.levels()));
                const auto window = random() % static_cast<std::uint64_t>(windows.windows(level));
                taken += take(windows, number, {level, static_cast<std::int64_t>(window)});
            }
        });
    }

    // Scores all windows of all negative images and takes the worst false alarms of each image that were not
    // taken before.
    void take_hard_negatives() {
        const WindowScores scores(window(), executor_);
        for_each_image(negatives_, stop_, [&](HostView<const std::uint8_t> image, std::size_t number) {
            const ImageWindows windows(window(), parameters_.scale_step, image, executor_);
            if (windows.windows() == 1) return;                 // the only window was taken as a random negative
            std::vector<std::pair<float, WindowPlace>> alarms;  // by negated score
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
        // By default the ratio of negatives to positives, so that both kinds cost the same in total.
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
    std::vector<std::set<WindowPlace>> taken_;  // per negative image
    TrainedModel trained_;
};

}  // namespace

const ParameterFields<TrainingParameters>& training_fields() {
    using P = TrainingParameters;
    constexpr double any = std::numeric_limits<double>::infinity();
    static const ParameterFields<P> fields = {
        parameter_field<P>(
            [](auto& all) -> auto& { return all.svm.c; },
            {.name = "c", .help = "what errors cost beside a wide margin", .maximum = any, .above_minimum = true}),
        parameter_field(
            &P::positive_weight,
            {.name = "positive-weight",
             .help = "what an error with a positive costs, in those with a negative; 0: both kinds cost the "
                     "same in all",
             .maximum = any}),
        parameter_field(&P::rounds, {.name = "rounds",
                                     .help = "times that false alarms in the negatives are looked for and added",
                                     .maximum = most_rounds,
                                     .unit = "N"}),
        parameter_field(&P::windows,
                        {.name = "negative-windows",
                         .help = "taken at random of each negative image; 0: 10000 of all, at least 10 of each",
                         .maximum = most_windows,
                         .unit = "N"}),
        parameter_field<P>([](auto& all) -> auto& { return all.svm.seed; },
                           {.name = "seed", .help = "of all that is random", .maximum = 0x1p62, .unit = "N"}),
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
