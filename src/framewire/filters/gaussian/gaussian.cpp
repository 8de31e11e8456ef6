#include "framewire/filters/gaussian/gaussian.hpp"

#include "framewire/core/parameters/fields.hpp"

#include <algorithm>
#include <cmath>

// The weights of the Gaussian, which decide the accuracy of all backends, and the registry entry. The exact weights
// come from the formula; round_weights() turns them into fixed point, with a unit as coarse as the accuracy allows.

namespace framewire {

namespace {

// Exact weights of the formula, folded like the fixed-point ones; they sum to 1/2.
struct ExactWeights {
    int terms;
    double folded[(max_window_px + 1) / 2];
};

// Samples the Gaussian at the taps' distances from the middle and normalises.
ExactWeights exact_weights(int size, double sigma) {
    ExactWeights weights{.terms = (size + 1) / 2, .folded = {}};
    const double middle = (size - 1) * 0.5, nearest = size % 2 ? 0 : 0.5;
    // Computed relative to the weight nearest to the middle, so that no sigma makes all of them zero.
    double sum = 0;
    for (int term = 0; term < weights.terms; ++term) {
        const double distance = middle - term;
        const double squares = distance * distance - nearest * nearest;
        weights.folded[term] = squares == 0 ? 1 : std::exp(-squares / (2 * sigma * sigma));
        if (distance == 0) weights.folded[term] *= 0.5;  // its tap counts twice
        sum += weights.folded[term];
    }
    for (auto& weight : weights.folded) weight /= 2 * sum;
    return weights;
}

// Rounds the weights to multiples of `unit` that add up to 2^14. Rounding the running sum carries each error over to
// the next weight.
void round_weights(const ExactWeights& exact, int unit, std::int16_t* folded) {
    double exact_so_far = 0;
    int so_far = 0;
    for (int term = 0; term < exact.terms; ++term) {
        exact_so_far += exact.folded[term] * (1 << 15);
        const int rounded =
            term == exact.terms - 1 ? 1 << 14 : static_cast<int>(std::lround(exact_so_far / unit)) * unit;
        folded[term] = static_cast<std::int16_t>(rounded - so_far);
        so_far = rounded;
    }
}

// Upper bound, for any image, on the error of the filter's results before their final rounding:
//     127.5 * (sum over all taps of the window of abs(fixed - exact weight)) + half a unit of the rows' results.
// The errors of the weights add up to zero, so only the distance of bytes from 127.5 matters.
double largest_error(const ExactWeights& exact, const std::int16_t* folded) {
    // Each term represents two taps of its weight, or a middle tap of twice its weight.
    double difference = 0;
    for (int row = 0; row < exact.terms; ++row)
        for (int column = 0; column < exact.terms; ++column)
            difference += 4 * std::abs(folded[row] / 32768.0 * (folded[column] / 32768.0) -
                                       exact.folded[row] * exact.folded[column]);
    return 127.5 * difference + 1.0 / (2 << (15 - gaussian_row_shift(GaussianRounding::fine)));
}

// OpenCV's table of weights for the sizes 3, 5 and 7 with the default sigma, which replaces the formula. Returns false
// for other arguments.
bool round_as_opencv_table(int size, double sigma, std::int16_t* folded) {
    static constexpr std::int16_t of_3[] = {8192, 8192}, of_5[] = {2048, 8192, 6144}, of_7[] = {1024, 3584, 7168, 4608};
    if (sigma != 0 || (size != 3 && size != 5 && size != 7)) return false;
    std::copy_n(size == 3 ? of_3 : size == 5 ? of_5 : of_7, (size + 1) / 2, folded);
    return true;
}

}  // namespace

// A window of 6 sigma covers practically all of the Gaussian.
int gaussian_size_for(double sigma) {
    const auto size = static_cast<int>(std::lround(6 * sigma - 1)) | 1;
    return std::min(size, max_window_px);
}

// Tries short weights first and keeps them if their error bound suffices. Taps at both ends that round to zero are
// dropped, which shortens the window.
GaussianWeights gaussian_weights(int size, double sigma, GaussianRounding rounding) {
    if (size < 0 || size > max_window_px)
        fail(ErrorCode::usage, "gaussian of size {}; allowed are 0 to {}", size, max_window_px);
    if (!(sigma >= 0 && sigma <= max_gaussian_sigma_px))
        fail(ErrorCode::usage, "gaussian with sigma {}; allowed are 0 to {}", sigma, max_gaussian_sigma_px);
    if (size == 0 && sigma == 0) fail(ErrorCode::usage, "gaussian of size 0 and sigma 0; one follows from the other");
    if (size == 0) size = gaussian_size_for(sigma);
    const auto exact = exact_weights(size, sigma == 0 ? default_gaussian_sigma(size) : sigma);

    std::int16_t folded[(max_window_px + 1) / 2];
    // OpenCV's rounding has its own table for some sizes and otherwise the same error diffusion.
    const bool as_opencv = rounding == GaussianRounding::opencv;
    if (!as_opencv || !round_as_opencv_table(size, sigma, folded)) round_weights(exact, gaussian_short_unit, folded);
    GaussianWeights weights{};
    weights.rounding = rounding;
    weights.is_short = !as_opencv && size <= gaussian_most_short_taps && largest_error(exact, folded) < 1;
    if (!weights.is_short && !as_opencv) round_weights(exact, 1, folded);

    // Drop the zeros at both ends.
    const auto* first = std::find_if(folded, folded + exact.terms, [](int weight) { return weight != 0; });
    const int zeros = static_cast<int>(first - folded);
    std::copy(first, static_cast<const std::int16_t*>(folded + exact.terms), weights.folded);
    weights.taps = size - 2 * zeros;
    const auto reach = window_reach(size);
    weights.reach = {reach.before - zeros, reach.after - zeros};
    return weights;
}

namespace {

const ParameterFields<GaussianParameters>& gaussian_fields() {
    using P = GaussianParameters;
    static const ParameterFields<P> fields = {
        parameter_field(&P::size,
                        {.name = "size",
                         .help = "side of the square window in pixels; even ones reach one pixel further left and up; "
                                 "0 stands for 6 * sigma - 1, made odd",
                         .minimum = 0,
                         .maximum = max_window_px}),
        parameter_field(&P::sigma,
                        {.name = "sigma",
                         .help = "standard deviation in pixels; 0 stands for 0.3 * ((size - 1) / 2 - 1) + 0.8",
                         .maximum = max_gaussian_sigma_px}),
        parameter_field(&P::border, border_names, border_parameter()),
        parameter_field(
            &P::rounding, gaussian_rounding_names,
            {.name = "rounding",
             .help = "fine differs by 1 at most from the formula rounded to whole values; opencv gives, for odd sizes, "
                     "the bytes of OpenCV's 8-bit GaussianBlur"}),
    };
    return fields;
}

}  // namespace

// The weights do not depend on the backend, so that results are equal everywhere.
Gaussian::Gaussian(GaussianParameters parameters, const Shape& shape, Executor& executor)
    : border_(parameters.border),
      weights_(gaussian_weights(parameters.size, parameters.sigma, parameters.rounding)),
      shape_(shape),
      executor_(&executor) {
    validate(shape, "gaussian's image");
    if constexpr (cuda::compiled)
        if (executor.backend() == Backend::cuda) on_device_ = plan_for_cuda();
}

FilterInfo gaussian_info() {
    return {
        .name = "gaussian",
        .summary = "the weighted mean of the pixels around each one, near ones counting most",
        .parameters = gaussian_fields().infos(),
        .examples = {"gaussian=9", "gaussian=4:sigma=2", "gaussian=0:sigma=2.5"},
        .output_shape =
            [](const ParameterValues& values, const Shape& shape) {
                gaussian_weights(static_cast<int>(values.integer("size")), values.real("sigma"));
                return shape;
            },
        .make = [](const ParameterValues& values, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
            return std::make_unique<FilterOf<Gaussian>>(gaussian_fields().from(values), shape, executor);
        },
        .window = [](const ParameterValues& values) -> SeparableWindow {
            const auto parameters = gaussian_fields().from(values);
            const auto fixed = gaussian_weights(parameters.size, parameters.sigma, parameters.rounding);
            SeparableWindow window{{}, fixed.reach.before, parameters.border};
            for (int tap = 0; tap < fixed.taps; ++tap) {
                const int mirrored = fixed.taps - 1 - tap;
                const int folded = fixed.folded[std::min(tap, mirrored)];
                window.weights.push_back((tap == mirrored ? 2 * folded : folded) / 32768.0);
            }
            return window;
        },
    };
}

}  // namespace framewire
