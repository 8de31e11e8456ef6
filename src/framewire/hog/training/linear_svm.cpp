#include "framewire/hog/training/linear_svm.hpp"

#include "framewire/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <span>

namespace framewire {
namespace {

// Several sums, so that additions do not wait for each other, in an order that does not depend on the compiler.
constexpr std::size_t sums = 8;

// Dot product in double precision.
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

// Rejects parameters and samples that the descent could not handle.
void check(const SvmSamples& samples, const SvmParameters& p) {
    if (!(p.c > 0 && std::isfinite(p.c))) fail(ErrorCode::usage, "c is {}; allowed are finite numbers above 0", p.c);
    if (!(p.positive_weight > 0 && std::isfinite(p.positive_weight)))
        fail(ErrorCode::usage, "the positive samples' weight is {}; allowed are finite numbers above 0",
             p.positive_weight);
    if (!(p.tolerance > 0)) fail(ErrorCode::usage, "the tolerance is {}; it is above 0", p.tolerance);
    if (p.most_passes < 1) fail(ErrorCode::usage, "{} passes through the samples; at least 1 is needed", p.most_passes);
    bool has[2] = {};
    for (std::size_t row = 0; row < samples.rows(); ++row) {
        has[samples.positive(row)] = true;
        if (!std::ranges::all_of(samples.row(row), [](float value) { return std::isfinite(value); }))
            fail(ErrorCode::usage, "sample {} has a value that is not a finite number", row);
    }
    if (!has[0] || !has[1])
        fail(ErrorCode::usage, "{} samples, none of which is {}; both kinds are needed", samples.rows(),
             has[1] ? "negative" : "positive");
}

// The algorithm of Hsieh et al. 2008: each multiplier in turn is set to its minimum of the dual cost, and the
// weights follow at once.
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

    // The duality gap is computed after every fourth pass only.
    LinearSvm run(const std::stop_token& stop) {
        while (!svm_.converged && svm_.passes < parameters_.most_passes && !stop.stop_requested()) {
            pass();
            ++svm_.passes;
            // Computing the excess takes half as long as a pass.
            if (svm_.passes % 4 == 0 || svm_.passes == parameters_.most_passes) weigh();
        }
        return svm_;
    }

private:
    // The cost of a unit of loss for a sample.
    double cost_of(std::size_t row) const {
        return samples_.positive(row) ? parameters_.c * parameters_.positive_weight : parameters_.c;
    }
    // The curvature that the squared loss adds for a multiplier; 0 for the hinge loss.
    double softness(std::size_t row) const { return parameters_.loss == SvmLoss::squared ? 1 / (2 * cost_of(row)) : 0; }
    // The upper limit of a multiplier: the sample's cost for the hinge loss, none for the squared loss.
    double most_alpha(std::size_t row) const {
        return parameters_.loss == SvmLoss::squared ? std::numeric_limits<double>::infinity() : cost_of(row);
    }
    double sign(std::size_t row) const { return samples_.positive(row) ? 1 : -1; }
    // Functional margin of a sample; from 1 on it is on the right side.
    double margin(std::size_t row) const { return sign(row) * (product(svm_.weights, samples_.row(row)) + svm_.bias); }

    // Minimises the dual cost over each multiplier in turn, in random order.
    void pass() {
        // A Fisher-Yates shuffle whose result does not depend on the standard library.
        for (std::size_t i = order_.size() - 1; i > 0; --i) std::swap(order_[i], order_[random_() % (i + 1)]);
        for (const auto row : order_) {
            // The derivative of the dual cost by the multiplier.
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

    // Computes the primal cost and its distance from the dual cost, which is a lower bound of the least cost.
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

}  // namespace framewire
