#include "framewire/filters/convolve/convolve.hpp"

#include "framewire/core/parameters/fields.hpp"
#include "framewire/core/parameters/numbers.hpp"

#include <cmath>

namespace framewire {
namespace {

// Side of the matrix. Throws Error{usage} unless it is square, odd and not too large.
int side_of(const std::vector<int>& matrix) {
    const auto side = static_cast<int>(std::lround(std::sqrt(static_cast<double>(matrix.size()))));
    if (side % 2 == 0 || side > max_convolve_size || static_cast<std::size_t>(side * side) != matrix.size())
        fail(ErrorCode::usage,
             "matrix has {} numbers; allowed are 1, 9, 25 and so on to {}, those of a square of an odd side",
             matrix.size(), max_convolve_size * max_convolve_size);
    return side;
}

// Throws Error{usage} if a value is out of range.
void check_range(std::string_view what, int value, int least, int most) {
    if (value < least || value > most)
        fail(ErrorCode::usage, "convolve's {} is {}; allowed are {} to {}", what, value, least, most);
}

// Parameters of the registry entry, with the matrix as text.
struct ConvolveSettings {
    std::string matrix = "0 -1 0  -1 5 -1  0 -1 0";
    int divisor = ConvolveParameters{}.divisor;
    int offset = ConvolveParameters{}.offset;
    Border border = ConvolveParameters{}.border;
};

const ParameterFields<ConvolveSettings>& convolve_fields() {
    using S = ConvolveSettings;
    static const ParameterFields<S> fields = {
        parameter_field(
            &S::matrix,
            {.name = "matrix",
             .help = "whole numbers with spaces between them, row by row, quoted; of a square of an odd side to 15"}),
        parameter_field(&S::divisor, {.name = "divisor",
                                      .help = "of the sum, which is then rounded to nearest",
                                      .minimum = 1,
                                      .maximum = max_convolve_divisor}),
        parameter_field(&S::offset, {.name = "offset", .help = "added to that", .minimum = -255, .maximum = 255}),
        parameter_field(&S::border, border_names, border_parameter()),
    };
    return fields;
}

ConvolveParameters convolve_parameters(const ParameterValues& values) {
    const auto settings = convolve_fields().from(values);
    return {parse_matrix(settings.matrix), settings.divisor, settings.offset, settings.border};
}

}  // namespace

// Checks the number of values while reading, so that a long text cannot allocate much.
std::vector<int> parse_matrix(std::string_view text) {
    constexpr std::string_view spaces = " \t\r\n";
    constexpr std::size_t most = max_convolve_size * max_convolve_size;
    std::vector<int> matrix;
    for (auto begin = text.find_first_not_of(spaces); begin != text.npos; begin = text.find_first_not_of(spaces)) {
        text.remove_prefix(begin);
        const auto word = text.substr(0, text.find_first_of(spaces));
        text.remove_prefix(word.size());
        const auto number = number_in<int>(word);
        if (!number || *number < -max_convolve_weight || *number > max_convolve_weight)
            fail(ErrorCode::usage,
                 "matrix has '{}'; allowed are whole numbers from {} to {} with spaces between them "
                 "(and a divisor for all)",
                 word, -max_convolve_weight, max_convolve_weight);
        if (matrix.size() == most) fail(ErrorCode::usage, "matrix has more than {} numbers", most);
        matrix.push_back(*number);
    }
    side_of(matrix);
    return matrix;
}

// Only numbers of the matrix that are not zero become taps, so sparse matrices cost less on the CPU.
Convolve::Convolve(const ConvolveParameters& parameters, const Shape& shape, Executor& executor)
    : size_(side_of(parameters.matrix)),
      divisor_(parameters.divisor),
      offset_(parameters.offset),
      border_(parameters.border),
      shape_(shape),
      executor_(&executor) {
    validate(shape, "convolve's image");
    check_range("divisor", divisor_, 1, max_convolve_divisor);
    check_range("offset", offset_, -255, 255);
    // Collect the taps, relative to the middle of the matrix.
    for (int index = 0; index < size_ * size_; ++index) {
        const int weight = parameters.matrix[static_cast<std::size_t>(index)];
        check_range("matrix", weight, -max_convolve_weight, max_convolve_weight);
        if (weight != 0)
            taps_.push_back({index % size_ - size_ / 2, index / size_ - size_ / 2, static_cast<std::int16_t>(weight)});
    }
    if constexpr (cuda::compiled)
        if (executor.backend() == Backend::cuda) on_device_ = plan_for_cuda();
}

FilterInfo convolve_info() {
    return {
        .name = "convolve",
        .summary = "any weighted sum of the pixels around each one: sharper, edges, reliefs",
        .parameters = convolve_fields().infos(),
        .examples = {"convolve='-1 0 0  0 0 0  0 0 1':offset=128", "convolve='1 2 1  2 4 2  1 2 1':divisor=16"},
        .output_shape =
            [](const ParameterValues& values, const Shape& shape) {
                convolve_parameters(values);
                return shape;
            },
        .make = [](const ParameterValues& values, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
            return std::make_unique<FilterOf<Convolve>>(convolve_parameters(values), shape, executor);
        },
    };
}

}  // namespace framewire
