#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace framewire {

/// "90", "1.5", "1:30" or "1:02:03.5" as seconds; empty unless within 0 to 10^9, minutes and seconds behind a colon
/// below 60.
std::optional<double> parse_seconds(std::string_view text);

/// What parse_seconds() takes, in words.
inline constexpr std::string_view allowed_seconds = "seconds, as 90 or 1.5, or [HOURS:]MINUTES:SECONDS, as 1:02:03.5";

/// Seconds as people read them, to the hundredth: "0:12.34", "1:02:03.50".
std::string to_clock_text(double seconds);

}  // namespace framewire
