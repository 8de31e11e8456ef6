#pragma once

#include "framewire/filters/window.hpp"
#include "kit/filter_check.hpp"

#include <string>
#include <utility>
#include <vector>

namespace framewire::kit {

/// Border mode and its name in a chain.
struct NamedBorder {
    Border border;
    const char* name;
};

inline constexpr NamedBorder borders[] = {
    {Border::reflect101, "reflect101"}, {Border::replicate, "replicate"}, {Border::zero, "zero"}};

/// Returns the channel counts of gray and BGR; in brief runs only one of them, alternating with `turn`.
inline std::vector<int> channel_counts(int turn) {
    if (!brief()) return {3, 1};
    return {turn % 2 == 0 ? 3 : 1};
}

/// Instantiates the test of `suite`, which calls check(backend, border), once per border. These are three tests, so
/// that slow tools can run them in parallel.
#define FRAMEWIRE_TEST_EVERY_BORDER(suite, check)                                                    \
    TEST_P(suite, MatchesTheDefinitionWithAReflectedBorder) { check(GetParam(), kit::borders[0]); }  \
    TEST_P(suite, MatchesTheDefinitionWithAReplicatedBorder) { check(GetParam(), kit::borders[1]); } \
    TEST_P(suite, MatchesTheDefinitionWithAZeroBorder) { check(GetParam(), kit::borders[2]); }

/// Runs check_filter() for a filter with a size and a border, whose reference is reference(Parameters, in, out); an
/// empty `shapes` selects the usual shapes.
template <class Parameters, class Reference>
void check_window(Backend backend, const FilterInfo& info, Reference reference, int size, int channels,
                  NamedBorder border, std::vector<Shape> shapes = {}) {
    const Parameters parameters{.size = size, .border = border.border};
    check_filter(backend, {.info = info,
                           .values = {{"size", std::to_string(size)}, {"border", border.name}},
                           .channels = channels,
                           .reference =
                               [=](const FilterImages<MemorySpace::host>& images) {
                                   reference(parameters, images.in, images.out);
                               },
                           .shapes = std::move(shapes)});
}

}  // namespace framewire::kit
