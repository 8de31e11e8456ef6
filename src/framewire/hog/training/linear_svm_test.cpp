#include "framewire/hog/training/linear_svm.hpp"

#include "framewire/core/error.hpp"

#include "kit/images.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace framewire {
namespace linear_svm_test {

struct Sample {
    bool positive;
    std::vector<float> values;
};

SvmSamples samples_of(const std::vector<Sample>& all) {
    SvmSamples samples(all.front().values.size());
    for (const auto& [positive, values] : all) std::ranges::copy(values, samples.add(positive).begin());
    return samples;
}

// Two overlapping clouds.
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

// Positive at 3, negative at 1; with the bias's value (3, 1) and (1, 1), whose multipliers are a and b: weight
// 3a - b, bias a - b.
const std::vector<Sample> two{{true, {3}}, {false, {1}}};

TEST(LinearSvm, FindsAWideMargin) {
    // 3w + bias >= 1 and -w - bias >= 1 with equality: w = 1, bias = -2 (a = 1.5, b = 3.5, both below c).
    auto p = exact;
    p.c = 10;
    expect_svm(train_linear_svm(samples_of(two), p), {1}, -2, 2.5);
}

TEST(LinearSvm, MinimisesTheHingeLoss) {
    // c = 1 limits b to 1; then the slope 1 - 10a + 4b is 0 at a = 0.5. Cost: (0.25 + 0.25) / 2 + loss 0 + loss
    // 1.
    expect_svm(train_linear_svm(samples_of(two), exact), {0.5}, -0.5, 1.25);
}

TEST(LinearSvm, MinimisesTheSquaredLoss) {
    // c = 1/2 adds 1 to the diagonal: 11a - 4b = 1, -4a + 3b = 1: a = 7/17, b = 15/17. The losses are a and b,
    // since a / (2c) = loss; cost: (6^2 + 8^2) / 17^2 / 2 + (7^2 + 15^2) / 17^2 / 2.
    auto p = exact;
    p.c = 0.5;
    p.loss = SvmLoss::squared;
    expect_svm(train_linear_svm(samples_of(two), p), {6 / 17.0}, -8 / 17.0, 374 / 578.0);
}

// Reference implementation: gradient descent on the dual cost, all multipliers at once.
LinearSvm reference(const std::vector<Sample>& all, const SvmParameters& p) {
    const auto rows = all.size(), values = all.front().values.size();
    const auto c_of = [&](std::size_t i) { return all[i].positive ? p.c * p.positive_weight : p.c; };
    const auto soft = [&](std::size_t i) { return p.loss == SvmLoss::squared ? 1 / (2 * c_of(i)) : 0; };
    std::vector<double> alpha(rows);
    double trace = 0;  // above the largest curvature
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

TEST(LinearSvm, ReachesTheCostOfTheReference) {
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

TEST(LinearSvm, ExcessBoundsTheDistanceFromTheLeastCost) {
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

TEST(LinearSvm, WeightOfTwoEqualsDuplicatedPositives) {
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

TEST(LinearSvm, SameSeedGivesTheSameBits) {
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

TEST(LinearSvm, RejectsInvalidSamples) {
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

}  // namespace linear_svm_test
}  // namespace framewire
