#include "framewire/filters/gaussian/gaussian.hpp"

#include <cmath>

namespace framewire {

GaussianWeights gaussian_weights(int size, double sigma) {
    if (size < 1 || size > max_window_px)
        fail(ErrorCode::usage, "gaussian of size {}; allowed are 1 to {}", size, max_window_px);
    if (!(sigma >= 0 && sigma <= max_gaussian_sigma_px))
        fail(ErrorCode::usage, "gaussian with sigma {}; allowed are 0 to {}", sigma, max_gaussian_sigma_px);
    if (sigma == 0) sigma = default_gaussian_sigma(size);

    const int terms = (size + 1) / 2;
    const double middle = (size - 1) * 0.5, nearest = size % 2 ? 0 : 0.5;
    // Relative to the weight nearest the middle, so that no sigma makes all of them zero.
    double exact[(max_window_px + 1) / 2];
    double sum = 0;
    for (int term = 0; term < terms; ++term) {
        const double distance = middle - term;
        const double squares = distance * distance - nearest * nearest;
        exact[term] = squares == 0 ? 1 : std::exp(-squares / (2 * sigma * sigma));
        if (distance == 0) exact[term] *= 0.5;  // its tap counts twice
        sum += exact[term];
    }

    GaussianWeights weights{};
    constexpr double one = 1 << 14;
    double exact_so_far = 0;
    int so_far = 0, zeros = 0;
    for (int term = 0; term < terms; ++term) {
        exact_so_far += exact[term] / sum * one;
        const int rounded = term == terms - 1 ? 1 << 14 : static_cast<int>(std::lround(exact_so_far));
        const int weight = rounded - so_far;
        so_far = rounded;
        if (weight == 0 && zeros == term)
            ++zeros;
        else
            weights.folded[term - zeros] = static_cast<std::int16_t>(weight);
    }
    weights.taps = size - 2 * zeros;
    const auto reach = window_reach(size);
    weights.reach = {reach.before - zeros, reach.after - zeros};
    return weights;
}

Gaussian::Gaussian(GaussianParameters parameters, const Shape& shape, Executor& executor)
    : border_(parameters.border),
      weights_(gaussian_weights(parameters.size, parameters.sigma)),
      shape_(shape),
      executor_(&executor) {
    validate(shape, "gaussian's image");
}

FilterInfo gaussian_info() {
    using Type = ParameterInfo::Type;
    return {
        .name = "gaussian",
        .summary = "the weighted mean of the pixels around each one, near ones counting most",
        .parameters =
            {
                {.name = "size",
                 .help = "side of the square window in pixels; even ones reach one pixel further left and up",
                 .type = Type::integer,
                 .default_value = "5",
                 .minimum = 1,
                 .maximum = max_window_px},
                {.name = "sigma",
                 .help = "standard deviation in pixels; 0 stands for 0.3 * ((size - 1) / 2 - 1) + 0.8",
                 .type = Type::real,
                 .default_value = "0",
                 .minimum = 0,
                 .maximum = max_gaussian_sigma_px},
                border_parameter(),
            },
        .output_shape = [](const ParameterValues&, const Shape& shape) { return shape; },
        .make = [](const ParameterValues& values, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
            return std::make_unique<FilterOf<Gaussian>>(
                GaussianParameters{.size = static_cast<int>(values.integer("size")),
                                   .sigma = values.real("sigma"),
                                   .border = border_from(values)},
                shape, executor);
        },
    };
}

}  // namespace framewire
