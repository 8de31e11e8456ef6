#include "framewire/filters/morphology/operation.hpp"

#include "framewire/core/error.hpp"

#include <fmt/ranges.h>

namespace framewire {

MorphologyOperation parse_morphology_operation(std::string_view text) {
    if (const auto* operation = value_named(morphology_names, text)) return *operation;
    fail(ErrorCode::usage, "morphology '{}'; allowed are {}", text, fmt::join(names_of(morphology_names), ", "));
}

// Closing and opening are the compositions of dilation and erosion (Serra, Image Analysis and Mathematical Morphology,
// 1982).
MorphologyPhases phases_of(MorphologyOperation operation) {
    using enum MorphologyPhases::Phase;
    switch (operation) {
        case MorphologyOperation::none: return {};
        case MorphologyOperation::dilate: return {{dilate}, 1};
        case MorphologyOperation::erode: return {{erode}, 1};
        case MorphologyOperation::open: return {{erode, dilate}, 2};
        case MorphologyOperation::close: return {{dilate, erode}, 2};
        case MorphologyOperation::close_open: return {{dilate, erode, erode, dilate}, 4};
    }
    fail(ErrorCode::internal, "an unknown morphology operation");
}

}  // namespace framewire
