#pragma once

#include "framewire/hog/training/svm_samples.hpp"

#include <cstdint>
#include <stop_token>
#include <vector>

namespace framewire {

/// What a sample costs by how far it is on the wrong side of its margin.
enum class SvmLoss {
    hinge,    ///< that distance (L1-loss)
    squared,  ///< its square (L2-loss)
};

struct SvmParameters {
    double c = 0.01;  ///< what a unit of loss costs, beside half the squared length of the weights; above 0
    SvmLoss loss = SvmLoss::hinge;
    double positive_weight = 1;  ///< times c, for positive samples; above 0
    double tolerance = 1e-3;     ///< of the cost: how far above the least one it may be, as a share of it; above 0
    int most_passes = 1000;      ///< through the samples, 1 or more
    std::uint64_t seed = 1;      ///< of the order in which samples are looked at
};

/// A separating plane: positive scores, product of weights and values plus bias, are for positive samples.
struct LinearSvm {
    std::vector<double> weights;
    double bias = 0;
    double cost = 0;    ///< (|weights|^2 + bias^2) / 2 + the sum of c x loss
    double excess = 0;  ///< the cost is at most this far above the least one (the duality gap)
    int passes = 0;
    bool converged = false;  ///< excess is within the tolerance
};

/// Finds the weights that cost least: a linear support vector machine by dual coordinate descent (Hsieh, Chang, Lin,
/// Keerthi and Sundararajan, ICML 2008, algorithm 1), in double precision on the calling thread. The bias is the weight
/// of one value more that is 1 in every sample, so that it costs what a weight does. Stops between passes when asked
/// to; what it has is then not converged. The same samples, parameters and seed give the same bits. Throws Error{usage}
/// on parameters that are not allowed, on values that are not finite, and when all samples are of one kind.
LinearSvm train_linear_svm(const SvmSamples& samples, const SvmParameters& parameters,
                           const std::stop_token& stop = {});

}  // namespace framewire
