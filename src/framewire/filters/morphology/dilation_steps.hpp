#pragma once

#include "framewire/filters/morphology/structuring_element.hpp"

#include <cstdint>

namespace framewire {

/// How to dilate by a structuring element row by row, for kernels. Bits are joined by or, gray values by the maximum.
///
/// Rows near the middle of an element reach further, so the pixels of all rows are dilated along the row together, in
/// pieces (Horner's scheme). a(x) is empty at first. Each step
///   1. joins a with the pixels of the rows at distance d above and below, for d from the previous step's rows_end to
///   its own rows_end - 1;
///   2. if shift_px is not 0, replaces a(x) by the join of a(x - shift_px), a(x) and a(x + shift_px).
/// Reaches of more than one pixel take several steps with shifts that grow threefold. Erosion works on complements, or
/// with the minimum.
struct DilationSteps {
    /// One step of the scheme.
    struct Step {
        std::uint8_t rows_end, shift_px;
        friend constexpr bool operator==(const Step&, const Step&) = default;
    };

    /// Radius of the element.
    int radius = 0;
    /// Number of steps in use.
    int count = 0;
    Step steps[max_element_px / 2 + 1]{};  ///< all but the last shift by at least 1 px, and together by the radius

    /// No steps: the element is one pixel.
    DilationSteps() = default;
    /// Finds the steps for an element, with shifts of at most `largest_shift_px`.
    explicit DilationSteps(const StructuringElement& element, int largest_shift_px = max_element_px / 2);

    /// Returns true if all rows of the element reach as far as there are rows above and below the middle, and the
    /// radius is at least 1.
    bool is_square() const { return radius > 0 && steps[0].rows_end == radius + 1; }

    friend constexpr bool operator==(const DilationSteps&, const DilationSteps&) = default;
};

}  // namespace framewire
