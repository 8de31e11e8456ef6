#pragma once

#include <span>
#include <string>
#include <string_view>

namespace framewire {

/// Returns the candidate that `name` was probably meant to be: the one with the fewest letters to change, add, remove
/// or swap with their neighbour (optimal string alignment distance). Of several the first; empty if more than half of
/// the longer name's letters would have to change. Names above 64 bytes match nothing.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> candidates);

/// Returns "; did you mean 'NAME'?" for the end of a message, or an empty text if no candidate is near.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace framewire
