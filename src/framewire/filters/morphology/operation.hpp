#pragma once

#include "framewire/core/parameters/named_value.hpp"

#include <array>
#include <string_view>

namespace framewire {

/// A morphological operation.
enum class MorphologyOperation {
    /// Copies the image.
    none,
    dilate,
    erode,
    open,       ///< erode, then dilate
    close,      ///< dilate, then erode
    close_open  ///< close, then open
};

/// Names of the operations in options, the usual one first.
inline constexpr NamedValue<MorphologyOperation> morphology_names[] = {
    {"close", MorphologyOperation::close},           {"open", MorphologyOperation::open},
    {"close-open", MorphologyOperation::close_open}, {"dilate", MorphologyOperation::dilate},
    {"erode", MorphologyOperation::erode},           {"none", MorphologyOperation::none},
};

/// Parses one of these names. Throws Error{usage} on any other text.
MorphologyOperation parse_morphology_operation(std::string_view text);

/// The dilations and erosions that make up an operation, in order; at most four.
struct MorphologyPhases {
    /// Kinds of phases.
    enum class Phase { dilate, erode };
    /// The phases, in order.
    std::array<Phase, 4> phases{};
    /// Number of phases.
    int count = 0;

    /// Returns true if phase `index` is an erosion.
    bool erodes(int index) const { return phases[static_cast<std::size_t>(index)] == Phase::erode; }
};

/// The phases of an operation; none for MorphologyOperation::none.
MorphologyPhases phases_of(MorphologyOperation operation);

}  // namespace framewire
