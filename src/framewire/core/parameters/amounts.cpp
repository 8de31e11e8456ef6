#include "framewire/core/parameters/amounts.hpp"

#include "framewire/core/parameters/numbers.hpp"

#include <initializer_list>
#include <system_error>
#include <utility>

namespace framewire {
namespace {

// Returns the number at the start of `text` times the factor of the unit that follows it, if the unit is known and the
// product is between `least` and `most`.
std::optional<double> amount_of(std::string_view text, std::initializer_list<std::pair<std::string_view, double>> units,
                                double least, double most) {
    double number = 0;
    if (take_number(text, number) != std::errc{}) return std::nullopt;
    for (const auto& [unit, factor] : units) {
        if (unit != text) continue;
        number *= factor;
        return number >= least && number <= most ? std::optional(number) : std::nullopt;
    }
    return std::nullopt;
}

}  // namespace

std::optional<double> seconds_of(std::string_view text) {
    constexpr double day = 24 * 3600;
    return amount_of(text, {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", day}, {"w", 7 * day}}, 1e-3, 3660 * day);
}

std::optional<double> bytes_of(std::string_view text) {
    return amount_of(text, {{"B", 1}, {"k", 1e3}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}}, 1, 1e18);
}

std::optional<double> bits_per_second_of(std::string_view text) {
    return amount_of(text, {{"", 1}, {"k", 1e3}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}}, 1e3, 1e12);
}

}  // namespace framewire
