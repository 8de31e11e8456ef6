#pragma once

#include <optional>
#include <string_view>

namespace framewire {

/// Seconds of a text: a number with s, m, h, d or w behind it, or alone for seconds: "90", "1.5h", "7d". Nothing where
/// it is no such text, and where it is not above 0 and at most ten years.
std::optional<double> seconds_of(std::string_view text);

/// Bytes of a text: a number with k, M, G or T behind it, thousands each, or B: "200G", "1.5T", "4096B". Nothing where
/// it is no such text, and where it is not at least 1 and at most a thousand petabytes.
std::optional<double> bytes_of(std::string_view text);

/// Bits per second of a text: a number with k, M or G behind it, thousands each, or alone: "2M", "500k", "96000".
/// Nothing where it is no such text, and where it is not at least a thousand and at most 1000G.
std::optional<double> bits_per_second_of(std::string_view text);

}  // namespace framewire
