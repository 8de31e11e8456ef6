#pragma once

#include "framewire/core/host_device.hpp"
#include "framewire/core/parameters/info.hpp"
#include "framewire/core/parameters/named_value.hpp"

#include <cstdint>

namespace framewire {

/// What a filter sees outside the image.
enum class Border {
    reflect101,  ///< the image mirrored at its outermost pixels, which are not repeated: dcb|abcd|cba
    replicate,   ///< the nearest pixel of the image: aaa|abcd|ddd
    zero,        ///< black
};

/// What they are called.
inline constexpr NamedValue<Border> border_names[] = {
    {"reflect101", Border::reflect101}, {"replicate", Border::replicate}, {"zero", Border::zero}};

/// What there is to say of the `border` of every filter with a window, for its ParameterFields.
ParameterInfo border_parameter();

/// Which of `size` pixels (at least 1) stands at `index`, however far outside it lies; -1 where `zero` puts black.
FRAMEWIRE_HOST_DEVICE constexpr int border_index(int index, int size, Border border) {
    if (index >= 0 && index < size) return index;
    if (border == Border::zero) return -1;
    if (border == Border::replicate) return index < 0 ? 0 : size - 1;
    if (size == 1) return 0;
    // Mirrored at both ends the row repeats itself every 2 * size - 2 pixels.
    const int period = 2 * size - 2;
    int offset = index % period;
    if (offset < 0) offset += period;
    return offset < size ? offset : period - offset;
}

/// Writes the pixels begin <= x < end of a row of `width` pixels, border where they lie outside it, to `padded`, which
/// does not overlap the row. A null `row` is a row of black: what `border_index` says with -1.
void pad_row_part(const std::uint8_t* row, int width, int channels, int begin, int end, Border border,
                  std::uint8_t* padded);

}  // namespace framewire
