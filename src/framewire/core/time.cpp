#include "framewire/core/time.hpp"
#include "framewire/core/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace framewire {
namespace {

constexpr std::int64_t largest_term = 1'000'000'000;  // limit for numerator and denominator

// Parses digits with at most three after a point, as a whole number of thousandths.
std::optional<std::int64_t> parse_thousandths(std::string_view text) {
    const auto point = text.find('.');
    const auto whole = number_in<std::int64_t>(text.substr(0, point));
    if (!whole || *whole < 0 || *whole > largest_term) return std::nullopt;
    std::int64_t fraction = 0;
    if (point != std::string_view::npos) {
        const auto digits = text.substr(point + 1);
        const auto value = number_in<std::int64_t>(digits);
        if (!value || *value < 0 || digits.size() > 3 || digits.front() == '-') return std::nullopt;
        fraction = *value;
        // "29.9" has 900 thousandths after its point.
        for (auto size = digits.size(); size < 3; ++size) fraction *= 10;
    }
    return *whole * 1000 + fraction;
}

}  // namespace

std::optional<Rational> parse_rate(std::string_view text) {
    Rational rate;
    if (const auto slash = text.find('/'); slash != std::string_view::npos) {
        const auto numerator = number_in<std::int64_t>(text.substr(0, slash));
        const auto denominator = number_in<std::int64_t>(text.substr(slash + 1));
        if (!numerator || !denominator) return std::nullopt;
        rate = {*numerator, *denominator};
    } else {
        const auto value = parse_thousandths(text);
        if (!value) return std::nullopt;
        rate = {*value, 1000};
    }
    if (rate.numerator > largest_term || rate.denominator > largest_term) return std::nullopt;
    return claimed_rate(rate.numerator, rate.denominator);
}

std::optional<Rational> claimed_rate(std::int64_t numerator, std::int64_t denominator) {
    if (numerator < 1 || denominator < 1) return std::nullopt;
    const auto reduced = [](const Rational& rate) {
        const auto divisor = std::gcd(rate.numerator, rate.denominator);
        return Rational{rate.numerator / divisor, rate.denominator / divisor};
    };
    const auto rate = reduced({numerator, denominator});
    if (rate.value() < 0.001 || rate.value() > 1000) return std::nullopt;
    if (rate.numerator <= largest_term && rate.denominator <= largest_term) return rate;
    // Terms that large come from rounding in a file. The nearest thousandth is exact enough for every sink.
    return reduced({std::llround(rate.value() * 1000), 1000});
}

namespace {

constexpr double longest_seconds = 1e9;
constexpr double base = 60;

}  // namespace

std::optional<double> parse_seconds(std::string_view text) {
    // Allows only digits, points and colons, because from_chars() accepts signs, exponents and words too.
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
    // Rounds first, so that 59.999 s becomes 1:00.00 and not 0:60.00.
    const auto hundredths = static_cast<std::int64_t>(std::llround(100 * std::clamp(seconds, 0.0, longest_seconds)));
    const auto whole = hundredths / 100;
    const auto rest = fmt::format("{:02}.{:02}", whole % 60, hundredths % 100);
    return whole >= 3600 ? fmt::format("{}:{:02}:{}", whole / 3600, whole / 60 % 60, rest)
                         : fmt::format("{}:{}", whole / 60, rest);
}

}  // namespace framewire
