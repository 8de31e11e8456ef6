#include "framewire/core/text/nearest_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace framewire {
namespace {

// Longer texts are not mistyped names. The limit also bounds the work.
constexpr std::size_t longest_name = 64;

// Optimal string alignment distance by dynamic programming over three rows.
std::size_t letters_to_change(std::string_view a, std::string_view b) {
    using Row = std::array<std::size_t, longest_name + 1>;
    // Distances from the first i, i-1 and i-2 letters of a to the first j letters of b.
    Row row{}, before{}, before_that{};
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        before_that = std::exchange(before, row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({before[j - 1] + (a[i - 1] != b[j - 1]), before[j] + 1, row[j - 1] + 1});
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) row[j] = std::min(row[j], before_that[j - 2] + 1);
        }
    }
    return row[b.size()];
}

}  // namespace

// The limit of half of the letters keeps names that have nothing in common from being suggested.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> candidates) {
    std::string_view nearest;
    if (name.size() > longest_name) return nearest;
    auto fewest = longest_name;
    for (const auto candidate : candidates) {
        if (candidate.size() > longest_name) continue;
        const auto letters = letters_to_change(name, candidate);
        if (letters < fewest && 2 * letters <= std::max(name.size(), candidate.size())) {
            fewest = letters;
            nearest = candidate;
        }
    }
    return nearest;
}

std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates) {
    const auto nearest = nearest_name(name, candidates);
    return nearest.empty() ? std::string() : fmt::format("; did you mean '{}'?", nearest);
}

}  // namespace framewire
