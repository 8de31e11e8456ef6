#pragma once

#include "framewire/core/time/rational.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace framewire {

/// Parses "30", "29.97" or "30000/1001" as a frame rate. Returns nothing unless it is from 0.001 to 1000 frames per
/// second.
std::optional<Rational> parse_rate(std::string_view text);

/// Returns the frame rate that a file or stream claims, in lowest terms, or nothing if it is outside of 0.001 to 1000
/// frames per second. Rates with terms above 10^9, which no sink accepts, are rounded to thousandths.
std::optional<Rational> claimed_rate(std::int64_t numerator, std::int64_t denominator);

/// The values that parse_rate() accepts, as a phrase for messages.
inline constexpr std::string_view allowed_rates = "0.001 to 1000 frames a second, as 30, 29.97 or 30000/1001";

}  // namespace framewire
