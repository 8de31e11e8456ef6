#pragma once

#include "framewire/hog/training/svm_samples.hpp"

#include <cstdint>
#include <stop_token>
#include <vector>

namespace framewire {

/// Cost of a sample, depending on its distance on the wrong side of its margin.
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
    int most_passes = 1000;      ///< most passes through the samples, 1 or more
    std::uint64_t seed = 1;      ///< seed of the order in which samples are visited
};

/// A separating hyperplane: the dot product of weights and values plus the bias is positive for positive
/// samples.
struct LinearSvm {
    std::vector<double> weights;
    double bias = 0;
    double cost = 0;    ///< (|weights|^2 + bias^2) / 2 + the sum of c x loss
    double excess = 0;  ///< duality gap: the cost is at most this far above the least one
    int passes = 0;
    bool converged = false;  ///< excess is within the tolerance
};

/// Trains a linear support vector machine by dual coordinate descent (Hsieh, Chang, Lin, Keerthi and
/// Sundararajan, ICML 2008, algorithm 1), in double precision on the calling thread. The bias is the weight of
/// an additional value that is 1 in every sample, so it is regularised like the other weights. Stops between
/// passes if requested; the result is then not converged. The same samples, parameters and seed give the same
/// bits. Throws Error{usage} if the parameters are not allowed, if a value is not finite, or if all samples are
/// of one kind.
LinearSvm train_linear_svm(const SvmSamples& samples, const SvmParameters& parameters,
                           const std::stop_token& stop = {});

}  // namespace framewire
