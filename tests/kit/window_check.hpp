#pragma once

#include "framewire/filters/border.hpp"
#include "kit/filter_check.hpp"

#include <string>
#include <utility>
#include <vector>

namespace framewire::kit {

/// A border and its name in a chain.
struct NamedBorder {
    Border border;
    const char* name;
};

inline constexpr NamedBorder borders[] = {
    {Border::reflect101, "reflect101"}, {Border::replicate, "replicate"}, {Border::zero, "zero"}};

/// Gray and BGR; in brief one of them, by turns.
inline std::vector<int> channel_counts(int turn) {
    if (!brief()) return {3, 1};
    return {turn % 2 == 0 ? 3 : 1};
}

/// Instantiates the test of `suite` that calls check(backend, border) once for each border: three tests, so that tools
/// which take long over one have them side by side.
#define FRAMEWIRE_TEST_EVERY_BORDER(suite, check)                                        \
    TEST_P(suite, EqualsTheDefinitionReflected) { check(GetParam(), kit::borders[0]); }  \
    TEST_P(suite, EqualsTheDefinitionReplicated) { check(GetParam(), kit::borders[1]); } \
    TEST_P(suite, EqualsTheDefinitionWithZerosAround) { check(GetParam(), kit::borders[2]); }

/// check_filter for a filter of a size and a border, whose formula is reference(Parameters, in, out); without `shapes`
/// over the usual ones.
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
