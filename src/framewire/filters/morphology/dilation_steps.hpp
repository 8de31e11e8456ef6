#pragma once

#include "framewire/filters/morphology/structuring_element.hpp"

#include <cstdint>

namespace framewire {

/// How to dilate by a structuring element row by row, for kernels: bits are joined by or, grays by maximum.
///
/// Rows nearer the middle of an element reach further, so the pixels of all rows are dilated along the row together, a
/// piece at a time (Horner's scheme). With a(x) = nothing at first, each step
///     joins a with the pixels of the rows at distance d above and below, for d from the last step's rows_end to its
///     own, then, if shift_px is not 0, sets a(x) = a(x - shift_px) joined with a(x) and a(x + shift_px).
/// Runs longer than three pixels come of several steps whose shifts grow threefold. Erosion is the same on complements,
/// or with the minimum.
struct DilationSteps {
    struct Step {
        std::uint8_t rows_end, shift_px;
        friend constexpr bool operator==(const Step&, const Step&) = default;
    };

    int radius = 0;
    int count = 0;
    Step steps[max_element_px / 2 + 1]{};  ///< each but the last shifts by 1 px at least, by the radius all together

    DilationSteps() = default;
    /// No shift is larger than `largest_shift_px`.
    explicit DilationSteps(const StructuringElement& element, int largest_shift_px = max_element_px / 2);

    /// Whether all rows of the element reach as far as there are rows above and below the middle, one at least.
    bool is_square() const { return radius > 0 && steps[0].rows_end == radius + 1; }

    friend constexpr bool operator==(const DilationSteps&, const DilationSteps&) = default;
};

}  // namespace framewire
