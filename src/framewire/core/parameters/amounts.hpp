#pragma once

#include <optional>
#include <string_view>

namespace framewire {

/// Parses a duration in seconds: a number with the unit s, m, h, d or w, or without one for seconds: "90", "1.5h",
/// "7d". Returns nothing if the text is malformed or the duration is not from 1 ms to 3660 days.
std::optional<double> seconds_of(std::string_view text);

/// Parses a number of bytes: a number with the decimal unit k, M, G or T, or with B: "200G", "1.5T", "4096B". A unit is
/// required. Returns nothing if the text is malformed or the amount is not from 1 to 10^18.
std::optional<double> bytes_of(std::string_view text);

/// Parses a bit rate in bits per second: a number with the decimal unit k, M or G, or without one: "2M", "500k",
/// "96000". Returns nothing if the text is malformed or the rate is not from 1000 to 10^12.
std::optional<double> bits_per_second_of(std::string_view text);

}  // namespace framewire
