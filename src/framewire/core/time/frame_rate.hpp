#pragma once

#include "framewire/core/time/rational.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace framewire {

/// "30", "29.97" or "30000/1001" as a frame rate; empty unless within 1/1000 to 1000 frames a second.
std::optional<Rational> parse_rate(std::string_view text);

/// The rate a medium claims, in lowest terms; nothing outside of 0.001 to 1000 frames a second. Terms above 10^9, which
/// no sink takes, make it a rate in thousandths.
std::optional<Rational> claimed_rate(std::int64_t numerator, std::int64_t denominator);

/// What parse_rate() takes, in words.
inline constexpr std::string_view allowed_rates = "0.001 to 1000 frames a second, as 30, 29.97 or 30000/1001";

}  // namespace framewire
