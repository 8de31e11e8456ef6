#pragma once

#include "framewire/hog/window_model.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Helpers shared by the readers of model files.

namespace framewire {

/// Parses all of `word` as a number, independent of the locale; nullopt if it is not one.
std::optional<double> parse_number(std::string_view word);

/// Returns `like` with the weights in `numbers`, optionally followed by the bias (default 0). `name` is the file's
/// name for messages. Throws Error{usage} if the count does not match the window's descriptor.
WindowModel with_weights(WindowModel like, std::vector<float> numbers, const std::string& name);

}  // namespace framewire
