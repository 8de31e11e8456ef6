#pragma once

#include <span>
#include <string>
#include <string_view>

namespace framewire {

/// The candidate that `name` was probably meant to be: the fewest letters to change, add, remove or swap with their
/// neighbour (optimal string alignment), the first of several, and at most half of the longer name's; empty when there
/// is none.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> candidates);

/// "; did you mean 'NAME'?" for the end of a message, or nothing when no candidate is near.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace framewire
