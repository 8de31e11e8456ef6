#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace framewire {

/// Parses "90", "1.5", "1:30" or "1:02:03.5" as seconds. Returns nothing unless the time is from 0 to 10^9 seconds and
/// every part after a colon is below 60.
std::optional<double> parse_seconds(std::string_view text);

/// The values that parse_seconds() accepts, as a phrase for messages.
inline constexpr std::string_view allowed_seconds = "seconds, as 90 or 1.5, or [HOURS:]MINUTES:SECONDS, as 1:02:03.5";

/// Formats seconds for people, to the hundredth: "0:12.34", "1:02:03.50". Clamped to 0 to 10^9 seconds.
std::string to_clock_text(double seconds);

}  // namespace framewire
