#include "framewire/core/time/seconds.hpp"

#include "framewire/core/parameters/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace framewire {
namespace {

constexpr double longest_seconds = 1e9;
constexpr double base = 60;

}  // namespace

std::optional<double> parse_seconds(std::string_view text) {
    // Only digits, points and colons: from_chars() accepts signs, exponents and words too.
    if (text.find_first_not_of("0123456789.:") != text.npos) return std::nullopt;
    double total = 0;
    for (int part = 0; part < 3; ++part) {
        const auto colon = text.find(':');
        const auto number = text.substr(0, colon);
        if (colon != text.npos && number.find('.') != text.npos) return std::nullopt;
        const auto value = number_in<double>(number);
        if (!value || (part > 0 && *value >= base)) return std::nullopt;
        total = total * base + *value;
        if (colon == text.npos) return total <= longest_seconds ? std::optional(total) : std::nullopt;
        text.remove_prefix(colon + 1);
    }
    return std::nullopt;
}

std::string to_clock_text(double seconds) {
    // Rounded first, so that 59.999 s becomes 1:00.00 and not 0:60.00.
    const auto hundredths = static_cast<std::int64_t>(std::llround(100 * std::clamp(seconds, 0.0, longest_seconds)));
    const auto whole = hundredths / 100;
    const auto rest = fmt::format("{:02}.{:02}", whole % 60, hundredths % 100);
    return whole >= 3600 ? fmt::format("{}:{:02}:{}", whole / 3600, whole / 60 % 60, rest)
                         : fmt::format("{}:{}", whole / 60, rest);
}

}  // namespace framewire
