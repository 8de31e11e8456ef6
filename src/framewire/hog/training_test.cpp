#include "framewire/hog/training.hpp"
#include "framewire/core/error.hpp"
#include "framewire/hog/hog_ref.hpp"
#include "kit/images.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <random>

namespace framewire {
namespace {

struct Sample {
    bool positive;
    std::vector<float> values;
};

SvmSamples samples_of(const std::vector<Sample>& all) {
    SvmSamples samples(all.front().values.size());
    for (const auto& [positive, values] : all) std::ranges::copy(values, samples.add(positive).begin());
    return samples;
}

// Returns samples of two overlapping clouds.
std::vector<Sample> clouds(int count, std::size_t values, float distance) {
    std::mt19937_64 random(kit::seed());
    std::vector<Sample> all;
    for (int i = 0; i < count; ++i) {
        Sample sample{i % 3 == 0, std::vector<float>(values)};
        for (float& value : sample.values) value = static_cast<float>(random() % 1000) / 500 - 1;
        sample.values[0] += sample.positive ? distance : -distance;
        all.push_back(sample);
    }
    return all;
}

const SvmParameters exact{.c = 1, .tolerance = 1e-9, .most_passes = 200'000};

void expect_svm(const LinearSvm& svm, const std::vector<double>& weights, double bias, double cost) {
    ASSERT_EQ(svm.weights.size(), weights.size());
    for (std::size_t i = 0; i < weights.size(); ++i) EXPECT_NEAR(svm.weights[i], weights[i], 1e-4);
    EXPECT_NEAR(svm.bias, bias, 1e-4);
    EXPECT_NEAR(svm.cost, cost, 1e-6);
    EXPECT_TRUE(svm.converged);
}

// A positive sample at 3 and a negative one at 1; with the bias's value, (3, 1) and (1, 1). With their multipliers a
// and b, the weight is 3a - b and the bias a - b.
const std::vector<Sample> two{{true, {3}}, {false, {1}}};

TEST(LinearSvm, FindsTheWidestMargin) {
    // 3w + bias >= 1 and -w - bias >= 1 with equality: w = 1, bias = -2 (a = 1.5, b = 3.5, both below c).
    auto p = exact;
    p.c = 10;
    expect_svm(train_linear_svm(samples_of(two), p), {1}, -2, 2.5);
}

TEST(LinearSvm, MinimisesTheHingeLoss) {
    // c = 1 limits b to 1; then the slope 1 - 10a + 4b is 0 at a = 0.5. The cost is (0.25 + 0.25) / 2 plus losses of 0
    // and 1.
    expect_svm(train_linear_svm(samples_of(two), exact), {0.5}, -0.5, 1.25);
}

TEST(LinearSvm, MinimisesTheSquaredLoss) {
    // c = 1/2 adds 1 to the diagonal: 11a - 4b = 1 and -4a + 3b = 1, so a = 7/17 and b = 15/17. The losses are a and b,
    // because a / (2c) = loss; the cost is (6^2 + 8^2) / 17^2 / 2 + (7^2 + 15^2) / 17^2 / 2.
    auto p = exact;
    p.c = 0.5;
    p.loss = SvmLoss::squared;
    expect_svm(train_linear_svm(samples_of(two), p), {6 / 17.0}, -8 / 17.0, 374 / 578.0);
}

// Trains by gradient descent on the dual cost, with all multipliers at once, as the reference.
LinearSvm reference(const std::vector<Sample>& all, const SvmParameters& p) {
    const auto rows = all.size(), values = all.front().values.size();
    const auto c_of = [&](std::size_t i) { return all[i].positive ? p.c * p.positive_weight : p.c; };
    const auto soft = [&](std::size_t i) { return p.loss == SvmLoss::squared ? 1 / (2 * c_of(i)) : 0; };
    std::vector<double> alpha(rows);
    double trace = 0;  // upper limit of the largest curvature
    for (std::size_t i = 0; i < rows; ++i) {
        trace += 1 + soft(i);
        for (const float value : all[i].values) trace += double(value) * double(value);
    }
    LinearSvm svm;
    for (int step = 0; step < 100'000; ++step) {
        svm.weights.assign(values, 0);
        svm.bias = 0;
        for (std::size_t i = 0; i < rows; ++i) {
            const double factor = all[i].positive ? alpha[i] : -alpha[i];
            for (std::size_t k = 0; k < values; ++k) svm.weights[k] += factor * double(all[i].values[k]);
            svm.bias += factor;
        }
        svm.cost = svm.bias * svm.bias / 2;
        for (const double weight : svm.weights) svm.cost += weight * weight / 2;
        for (std::size_t i = 0; i < rows; ++i) {
            double score = svm.bias;
            for (std::size_t k = 0; k < values; ++k) score += svm.weights[k] * double(all[i].values[k]);
            const double margin = all[i].positive ? score : -score, wrong = std::max(0.0, 1 - margin);
            svm.cost += c_of(i) * (p.loss == SvmLoss::squared ? wrong * wrong : wrong);
            const double most = p.loss == SvmLoss::squared ? std::numeric_limits<double>::infinity() : c_of(i);
            alpha[i] = std::clamp(alpha[i] - (margin - 1 + soft(i) * alpha[i]) / trace, 0.0, most);
        }
    }
    return svm;
}

TEST(LinearSvm, MatchesTheReferenceSolution) {
    const auto all = clouds(30, 4, 0.3f);
    for (const auto loss : {SvmLoss::hinge, SvmLoss::squared})
        for (const double weight : {1.0, 3.0}) {
            auto p = exact;
            p.c = 0.3;
            p.loss = loss;
            p.positive_weight = weight;
            const auto svm = train_linear_svm(samples_of(all), p);
            const auto expected = reference(all, p);
            EXPECT_TRUE(svm.converged);
            EXPECT_NEAR(svm.cost, expected.cost, 1e-4 * expected.cost);
            for (std::size_t i = 0; i < expected.weights.size(); ++i)
                EXPECT_NEAR(svm.weights[i], expected.weights[i], 0.01);
            EXPECT_NEAR(svm.bias, expected.bias, 0.01);
        }
}

TEST(LinearSvm, ExcessBoundsTheDistanceToTheMinimumCost) {
    const auto samples = samples_of(clouds(60, 8, 0.2f));
    const double least = train_linear_svm(samples, exact).cost;
    for (const int passes : {1, 2, 5, 20}) {
        auto p = exact;
        p.most_passes = passes;
        const auto svm = train_linear_svm(samples, p);
        EXPECT_LE(svm.passes, passes);
        EXPECT_GE(svm.cost, least * (1 - 1e-8));
        EXPECT_LE(svm.cost - svm.excess, least * (1 + 1e-8));
    }
}

TEST(LinearSvm, PositiveWeightOfTwoEqualsDuplicatedPositives) {
    auto all = clouds(40, 5, 0.3f);
    auto p = exact;
    p.positive_weight = 2;
    const auto weighted = train_linear_svm(samples_of(all), p);
    for (std::size_t i = 0; i < 40; ++i)
        if (all[i].positive) all.push_back(all[i]);
    const auto doubled = train_linear_svm(samples_of(all), exact);
    EXPECT_NEAR(weighted.cost, doubled.cost, 1e-6 * doubled.cost);
}

TEST(LinearSvm, SeparatesSeparableSamples) {
    const auto all = clouds(300, 20, 1.5f);
    auto p = exact;
    p.c = 100;
    p.tolerance = 1e-2;
    const auto svm = train_linear_svm(samples_of(all), p);
    for (const auto& [positive, values] : all) {
        double score = svm.bias;
        for (std::size_t i = 0; i < values.size(); ++i) score += svm.weights[i] * double(values[i]);
        EXPECT_EQ(score > 0, positive);
    }
}

TEST(LinearSvm, SameSeedGivesIdenticalWeights) {
    const auto samples = samples_of(clouds(50, 9, 0.1f));
    SvmParameters p{.most_passes = 4, .seed = 5};
    const auto first = train_linear_svm(samples, p), second = train_linear_svm(samples, p);
    EXPECT_EQ(first.weights, second.weights);
    EXPECT_EQ(first.bias, second.bias);
    p.seed = 6;
    EXPECT_NE(train_linear_svm(samples, p).weights, first.weights);
}

TEST(LinearSvm, StopsOnRequest) {
    std::stop_source stop;
    stop.request_stop();
    const auto svm = train_linear_svm(samples_of(two), exact, stop.get_token());
    EXPECT_EQ(svm.passes, 0);
    EXPECT_FALSE(svm.converged);
}

TEST(LinearSvm, RejectsInvalidSamplesAndParameters) {
    const auto refused = [](const SvmSamples& samples, const SvmParameters& p) {
        try {
            train_linear_svm(samples, p);
        } catch (const Error& error) {
            return error.code() == ErrorCode::usage;
        }
        return false;
    };
    const auto good = samples_of(two);
    EXPECT_TRUE(refused(samples_of({{true, {1}}, {true, {2}}}), {}));
    EXPECT_TRUE(refused(samples_of({{false, {1}}, {false, {2}}}), {}));
    EXPECT_TRUE(refused(SvmSamples(3), {}));
    EXPECT_TRUE(refused(samples_of({{true, {1}}, {false, {std::nanf("")}}}), {}));
    EXPECT_TRUE(refused(good, {.c = 0}));
    EXPECT_TRUE(refused(good, {.c = std::nan("")}));
    EXPECT_TRUE(refused(good, {.positive_weight = -1}));
    EXPECT_TRUE(refused(good, {.tolerance = 0}));
    EXPECT_TRUE(refused(good, {.most_passes = 0}));
}

Executor& executor() { return kit::executor(Backend::cpu); }

// Returns a window of 3 x 4 cells.
WindowModel small_window() { return {.hog = {.bins = 6, .norm = HogNorm::l2hys}, .width_px = 24, .height_px = 32}; }

HostImage noise(const Shape& shape, std::uint64_t salt) {
    HostImage image(shape);
    kit::fill(image.view(), kit::Fill::noise, salt);
    return image;
}

// Returns an image with a bright bar with a dark foot and some noise in the middle.
HostImage figure(const Shape& shape, std::uint64_t salt) {
    auto image = noise(shape, salt);
    for (int y = 0; y < shape.height; ++y)
        for (int x = 0; x < static_cast<int>(shape.row_bytes()); ++x) {
            const int from_left = x / shape.channels - (shape.width - 24) / 2, from_top = y - (shape.height - 32) / 2;
            const bool inside = from_left >= 8 && from_left < 16 && from_top >= 4 && from_top < 28;
            auto& byte = image.view().row(0, y)[x];
            byte = static_cast<std::uint8_t>((inside ? from_top < 20 ? 200 : 20 : 100) + byte / 6);
        }
    return image;
}

// Returns the images of a map, which are read by name.
TrainingImages images_of(std::map<std::string, HostImage>& images) {
    TrainingImages all{{}, [&images](const std::string& name) {
                           const auto& from = images.at(name);
                           HostImage copy_of(from.shape());
                           copy(from.view(), copy_of.view());
                           return copy_of;
                       }};
    for (const auto& [name, image] : images) all.names.push_back(name);
    return all;
}

std::optional<ErrorCode> error_of(const std::function<void()>& body, std::string& message) {
    try {
        body();
    } catch (const Error& error) {
        message = error.what();
        return error.code();
    }
    return std::nullopt;
}

// If an image is larger than the window by whole cells, its middle equals that part of the reference's descriptor of
// the image.
TEST(ImageWindows, CentreDescriptorMatchesTheImageRegion) {
    const auto window = small_window();
    const auto shape = window_shape(window);
    const auto image = figure({1, 64, 40, 3}, 1);  // 16 px above and below the window, 8 px to its left and right
    const auto reference = hog_reference(window.hog, image.view());
    std::vector<float> values(static_cast<std::size_t>(shape.count()));
    centre_descriptor(window, image.view(), false, executor(), values);
    std::size_t i = 0;
    for (int y = 0; y < shape.rows; ++y)
        for (int x = 0; x < shape.row_values(); ++x, ++i)
            ASSERT_NEAR(values[i],
                        reference.descriptors[static_cast<std::size_t>((y + 2) * 4 * shape.values + shape.values + x)],
                        1e-4);
}

// If the pixels around the window do not fill whole cells, those above and to the left of the window's cells are
// ignored.
TEST(ImageWindows, CentreDescriptorUsesItsOwnCellGrid) {
    const auto window = small_window();
    const auto image = figure({1, 37, 30, 1}, 2);  // 2 px above the window and 3 px to its left
    HostImage part({1, 35, 27, 1});
    copy(HostView<const std::uint8_t>(image.view().row(0, 2) + 3, part.shape(), 30, 37 * 30), part.view());
    const auto reference = hog_reference(window.hog, part.view());
    std::vector<float> values(static_cast<std::size_t>(window_shape(window).count()));
    centre_descriptor(window, image.view(), false, executor(), values);
    ASSERT_EQ(values.size(), reference.descriptors.size());
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_NEAR(values[i], reference.descriptors[i], 1e-4);
}

TEST(ImageWindows, MirroredDescriptorMatchesTheMirroredImage) {
    const auto window = small_window();
    const auto image = noise({1, 48, 40, 3}, 3);
    HostImage mirrored(image.shape());
    for (int y = 0; y < 48; ++y)
        for (int x = 0; x < 40; ++x)
            for (int c = 0; c < 3; ++c) mirrored.view().row(0, y)[(39 - x) * 3 + c] = image.view().row(0, y)[x * 3 + c];
    std::vector<float> values(static_cast<std::size_t>(window_shape(window).count())), expected = values;
    centre_descriptor(window, image.view(), true, executor(), values);
    centre_descriptor(window, mirrored.view(), false, executor(), expected);
    EXPECT_EQ(values, expected);
}

TEST(ImageWindows, CoverAllPositionsAtAllScales) {
    const auto window = small_window();
    const auto image = noise({1, 64, 48, 1}, 4);
    const ImageWindows windows(window, 1.25, image.view(), executor());
    // 48x64, 38x51, 30x40 and 24x32 (1.25^3 = 1.95) have (3 + 1)(4 + 1), (1 + 1)(2 + 1), (0 + 1)(1 + 1) and 1 windows.
    ASSERT_EQ(windows.levels(), 4);
    EXPECT_EQ(windows.windows(0), 20);
    EXPECT_EQ(windows.windows(1), 6);
    EXPECT_EQ(windows.windows(2), 2);
    EXPECT_EQ(windows.windows(3), 1);
    EXPECT_EQ(windows.windows(), 29);

    // At the image's own size, the window in row 2, column 1 equals that part of the reference's descriptor.
    const auto shape = window_shape(window);
    const auto reference = hog_reference(window.hog, image.view());
    std::vector<float> values(static_cast<std::size_t>(shape.count()));
    windows.copy({0, 2 * 4 + 1}, values);
    std::size_t i = 0;
    for (int y = 0; y < shape.rows; ++y)
        for (int x = 0; x < shape.row_values(); ++x, ++i)
            ASSERT_NEAR(values[i],
                        reference.descriptors[static_cast<std::size_t>((y + 2) * 5 * shape.values + shape.values + x)],
                        1e-4);

    // Scores are dot products with the values that copy() returns.
    auto model = window;
    model.weights.resize(values.size());
    for (std::size_t k = 0; k < values.size(); ++k)
        model.weights[k] = static_cast<float>(std::sin(static_cast<double>(k)));
    model.bias = 0.5f;
    const WindowScores scores(model, executor());
    for (int level = 0; level < windows.levels(); ++level) {
        const auto of_level = windows.score(level, scores);
        ASSERT_EQ(static_cast<std::int64_t>(of_level.size()), windows.windows(level));
        for (std::size_t number = 0; number < of_level.size(); ++number) {
            windows.copy({level, static_cast<std::int64_t>(number)}, values);
            EXPECT_NEAR(of_level[number], std::inner_product(values.begin(), values.end(), model.weights.begin(), 0.5),
                        1e-4);
        }
    }
}

class WindowTrainer : public ::testing::Test {
protected:
    WindowTrainer() {
        for (int i = 0; i < 12; ++i) {
            const auto name = std::to_string(100 + i);
            positives.emplace(name,
                              figure(i % 2 ? Shape{1, 32, 24, 3} : Shape{1, 50, 41, 1}, static_cast<std::uint64_t>(i)));
            negatives.emplace(
                name, noise(i % 3 ? Shape{1, 70, 60, 3} : Shape{1, 32, 24, 1}, static_cast<std::uint64_t>(100 + i)));
        }
    }
    std::optional<TrainedModel> train(const TrainingParameters& p = {}) {
        return train_window_model(small_window(), images_of(positives), images_of(negatives), p, executor());
    }
    float score(const WindowModel& model, const HostImage& image) {
        std::vector<float> values(model.weights.size());
        centre_descriptor(model, image.view(), false, executor(), values);
        return std::inner_product(values.begin(), values.end(), model.weights.begin(), model.bias);
    }

    std::map<std::string, HostImage> positives, negatives;
};

TEST_F(WindowTrainer, ClassifiesNewImages) {
    const auto trained = train({.svm = {.c = 1}});
    ASSERT_TRUE(trained);
    EXPECT_EQ(trained->figures.positives, 24);
    EXPECT_EQ(trained->figures.missed, 0);
    EXPECT_EQ(trained->figures.false_alarms, 0);
    EXPECT_TRUE(trained->figures.svm.converged);
    for (std::uint64_t salt = 1000; salt < 1010; ++salt) {
        EXPECT_GT(score(trained->model, figure({1, 40, 32, 3}, salt)), 0);
        EXPECT_LT(score(trained->model, noise({1, 40, 32, 3}, salt)), 0);
    }
}

TEST_F(WindowTrainer, SamplesTheRequestedNumberOfWindows) {
    const auto trained = train({.rounds = 0, .windows = 7});
    // 8 images have several windows, 4 have one.
    EXPECT_EQ(trained->figures.negatives, 8 * 7 + 4);
    EXPECT_TRUE(trained->figures.hard_negatives.empty());
    // Windows per size: 60x70: (4 + 1)(4 + 1); 50x58: (3 + 1)(3 + 1); 41x48: (2 + 1)(2 + 1); 34x40: (1 + 1)(1 + 1);
    // 28x33: 1.
    EXPECT_EQ(train({.rounds = 0, .windows = 10'000})->figures.negatives, 8 * (25 + 16 + 9 + 4 + 1) + 4)
        << "there are no more";
    EXPECT_EQ(train({.rounds = 0})->figures.negatives, 8 * (25 + 16 + 9 + 4 + 1) + 4) << "833 of each if there were";
}

TEST_F(WindowTrainer, AddsFalseAlarmsAsNegatives) {
    // A single random window is unlikely to hit the figures inside this negative image.
    for (const auto* name : {"a", "b"}) {
        auto image = noise({1, 200, 300, 1}, 7);
        for (const int left : {40, 136, 232})
            copy(figure({1, 32, 24, 1}, static_cast<std::uint64_t>(left)).view(),
                 HostView<std::uint8_t>(image.view().row(0, 80) + left, {1, 32, 24, 1}, 300, 300 * 200));
        negatives.emplace(name, std::move(image));
    }
    std::vector<std::int64_t> negatives_reported;
    const TrainingParameters p{.svm = {.c = 1}, .rounds = 5, .windows = 1, .hard_windows = 2};
    const auto trained =
        train_window_model(small_window(), images_of(positives), images_of(negatives), p, executor(),
                           [&](const TrainingStatistics& f) { negatives_reported.push_back(f.negatives); });
    const auto& added = trained->figures.hard_negatives;
    ASSERT_GE(added.size(), 1u);
    EXPECT_EQ(added.front(), 4) << "two of each at most";
    EXPECT_EQ(trained->figures.negatives, 14 + std::accumulate(added.begin(), added.end(), std::int64_t{0}));
    ASSERT_GE(negatives_reported.size(), 2u);
    EXPECT_EQ(negatives_reported[0], 14);
    EXPECT_EQ(negatives_reported[1], 18);
}

TEST_F(WindowTrainer, SameSeedGivesTheSameModel) {
    const auto first = train(), second = train(), other = train({.svm = {.seed = 2}});
    EXPECT_EQ(first->model.weights, second->model.weights);
    EXPECT_NE(first->model.weights, other->model.weights);
}

TEST_F(WindowTrainer, BalancesPositivesAndNegatives) {
    // There are 24 positives and 84 negatives.
    const auto balanced = train({.rounds = 0, .windows = 10}),
               same = train({.positive_weight = 84 / 24.0, .rounds = 0, .windows = 10}),
               other = train({.positive_weight = 1, .rounds = 0, .windows = 10});
    EXPECT_EQ(balanced->figures.negatives, 84);
    EXPECT_EQ(balanced->model.weights, same->model.weights);
    EXPECT_NE(balanced->model.weights, other->model.weights);
}

TEST_F(WindowTrainer, StopsOnRequest) {
    std::stop_source stop;
    int read = 0;
    auto counted = images_of(negatives);
    counted.read = [&, whole = counted.read](const std::string& name) {
        if (++read == 3) stop.request_stop();
        return whole(name);
    };
    EXPECT_FALSE(
        train_window_model(small_window(), images_of(positives), counted, {}, executor(), {}, stop.get_token()));
    EXPECT_EQ(read, 3);
}

TEST_F(WindowTrainer, NamesTheImageInErrors) {
    std::string message;
    positives.emplace("small.png", noise({1, 31, 24, 1}, 1));
    EXPECT_EQ(error_of([&] { train(); }, message), ErrorCode::usage);
    EXPECT_NE(message.find("small.png"), std::string::npos) << message;
    EXPECT_NE(message.find("24x31"), std::string::npos) << message;
    positives.erase("small.png");
    negatives.emplace("narrow.png", noise({1, 100, 23, 1}, 1));
    EXPECT_EQ(error_of([&] { train(); }, message), ErrorCode::usage);
    EXPECT_NE(message.find("narrow.png"), std::string::npos) << message;
    negatives.erase("narrow.png");
    for (const auto& p : {TrainingParameters{.positive_weight = -1}, TrainingParameters{.rounds = -1},
                          TrainingParameters{.windows = -1}, TrainingParameters{.hard_windows = 0},
                          TrainingParameters{.scale_step = 1}})
        EXPECT_EQ(error_of([&] { train(p); }, message), ErrorCode::usage);
    negatives.clear();
    EXPECT_EQ(error_of([&] { train(); }, message), ErrorCode::usage);
}

TEST(DetectionCurve, HasTheExpectedPoints) {
    // Positives 4 3 3 1 and negatives 3.5 3 2 1 0 give the thresholds 4, 3 and 1.
    const auto curve = detection_curve({3, 1, 4, 3}, {0, 3.5f, 2, 3, 1});
    ASSERT_EQ(curve.points.size(), 3u);
    const auto expect_point = [&](std::size_t i, float threshold, std::int64_t detections, std::int64_t false_alarms) {
        EXPECT_EQ(curve.points[i].threshold, threshold);
        EXPECT_EQ(curve.points[i].detections, detections);
        EXPECT_EQ(curve.points[i].false_alarms, false_alarms);
    };
    expect_point(0, 4, 1, 0);
    expect_point(1, 3, 3, 2);
    expect_point(2, 1, 4, 4);
    EXPECT_EQ(curve.detection_rate(curve.points[1]), 0.75);
    EXPECT_EQ(curve.false_alarm_rate(curve.points[1]), 0.4);
    EXPECT_EQ(curve.detection_rate_at(0.39), 0.25);
    EXPECT_EQ(curve.detection_rate_at(0.4), 0.75);
    EXPECT_EQ(curve.detection_rate_at(1), 1);
    EXPECT_EQ(detection_curve({1}, {2}).detection_rate_at(0.5), 0);
    EXPECT_EQ(to_csv(curve),
              "threshold,detections,positives,false_alarms,windows,detection_rate,false_alarms_per_window\n"
              "4,1,4,0,5,0.25,0\n3,3,4,2,5,0.75,0.4\n1,4,4,4,5,1,0.8\n");
    std::string message;
    EXPECT_EQ(error_of([] { detection_curve({}, {1}); }, message), ErrorCode::usage);
    EXPECT_EQ(error_of([] { detection_curve({1}, {}); }, message), ErrorCode::usage);
}

TEST_F(WindowTrainer, CrossValidationScoresEveryImageOnce) {
    const TrainingParameters p{.svm = {.c = 1}, .rounds = 1};
    int folds = 0;
    const auto curve = cross_validate(small_window(), images_of(positives), images_of(negatives), p, 4, executor(),
                                      [&](int fold) { EXPECT_EQ(fold, ++folds); });
    ASSERT_TRUE(curve);
    EXPECT_EQ(folds, 4);
    EXPECT_EQ(curve->positives, 12);
    EXPECT_EQ(curve->negatives, 8 * (25 + 16 + 9 + 4 + 1) + 4);
    EXPECT_EQ(curve->detection_rate_at(0), 1);
    std::string message;
    for (const int count : {-1, 0, 1, 13})
        EXPECT_EQ(error_of(
                      [&] {
                          cross_validate(small_window(), images_of(positives), images_of(negatives), p, count,
                                         executor());
                      },
                      message),
                  ErrorCode::usage);
}

// The positive image of each part looks like the negative image of the other part. A model that was trained on the
// image that it scores finds the image; a model that was trained only on the other part takes it for a negative.
TEST_F(WindowTrainer, CrossValidationScoresHeldOutImages) {
    const auto lying = [](std::uint64_t salt) {
        const auto upright = figure({1, 32, 32, 1}, salt);
        HostImage image(upright.shape());
        for (int y = 0; y < 32; ++y)
            for (int x = 0; x < 32; ++x) image.view().row(0, y)[x] = upright.view().row(0, x)[y];
        return image;
    };
    positives.clear();
    positives.emplace("0", figure({1, 32, 24, 1}, 1));
    positives.emplace("1", lying(2));
    negatives.clear();
    negatives.emplace("0", lying(3));
    negatives.emplace("1", figure({1, 32, 24, 1}, 4));
    const TrainingParameters p{.svm = {.c = 1000}, .rounds = 0};
    const auto all = train(p);
    EXPECT_EQ(all->figures.missed + all->figures.false_alarms, 0) << "noise tells them apart";
    const auto curve = cross_validate(small_window(), images_of(positives), images_of(negatives), p, 2, executor());
    EXPECT_EQ(curve->detection_rate_at(0), 0);
}

}  // namespace
}  // namespace framewire
