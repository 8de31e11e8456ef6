#pragma once

#include "framewire/core/parameters/named_value.hpp"

#include <array>
#include <string_view>

namespace framewire {

enum class MorphologyOperation {
    none,
    dilate,
    erode,
    open,       ///< erode, then dilate
    close,      ///< dilate, then erode
    close_open  ///< close, then open
};

/// What they are called, the usual one first.
inline constexpr NamedValue<MorphologyOperation> morphology_names[] = {
    {"close", MorphologyOperation::close},           {"open", MorphologyOperation::open},
    {"close-open", MorphologyOperation::close_open}, {"dilate", MorphologyOperation::dilate},
    {"erode", MorphologyOperation::erode},           {"none", MorphologyOperation::none},
};

/// Reads one of these names; throws Error{usage} on anything else.
MorphologyOperation parse_morphology_operation(std::string_view text);

/// What an operation does one after the other, at most four times.
struct MorphologyPhases {
    enum class Phase { dilate, erode };
    std::array<Phase, 4> phases{};
    int count = 0;

    bool erodes(int index) const { return phases[static_cast<std::size_t>(index)] == Phase::erode; }
};

MorphologyPhases phases_of(MorphologyOperation operation);

}  // namespace framewire
