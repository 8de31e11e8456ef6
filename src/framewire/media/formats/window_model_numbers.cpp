#include "framewire/media/formats/window_model_numbers.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/parameters/numbers.hpp"

#include <cstdint>
#include <utility>

namespace framewire {

// Accepts a leading '+', which std::from_chars() does not.
std::optional<double> parse_number(std::string_view word) {
    if (word.starts_with('+') && !word.starts_with("+-")) word.remove_prefix(1);
    return number_in<double>(word);
}

WindowModel with_weights(WindowModel like, std::vector<float> numbers, const std::string& name) {
    const auto shape = window_shape(like);
    const auto count = static_cast<std::int64_t>(numbers.size());
    if (count != shape.count() && count != shape.count() + 1)
        fail(ErrorCode::usage,
             "{} has {} numbers; a window of {}x{} pixels needs {} x {} x {} = {} weights, with a bias one more", name,
             count, like.width_px, like.height_px, shape.rows, shape.columns, shape.values, shape.count());
    like.bias = 0;
    if (count > shape.count()) {
        like.bias = numbers.back();
        numbers.pop_back();
    }
    like.weights = std::move(numbers);
    try {
        validate(like);
    } catch (const Error& error) {
        fail(error.code(), "{}: {}", name, error.what());
    }
    return like;
}

}  // namespace framewire
