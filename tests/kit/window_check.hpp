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
