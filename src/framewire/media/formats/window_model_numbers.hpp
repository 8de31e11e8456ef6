#pragma once

#include "framewire/hog/window_model.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What the readers of model files share.

namespace framewire {

/// The number that all of `word` is, in any locale.
std::optional<double> parse_number(std::string_view word);

/// `like` with the weights in `numbers`, which may have the bias behind them; without it is 0. `name` is the file's.
/// Throws Error{usage} when their count does not go with the window's descriptor.
WindowModel with_weights(WindowModel like, std::vector<float> numbers, const std::string& name);

}  // namespace framewire
