#pragma once

#include "framewire/core/host_device.hpp"
#include "framewire/core/parameters/info.hpp"
#include "framewire/core/parameters/named_value.hpp"

#include <cstdint>

namespace framewire {

/// How a filter continues the image beyond its edges.
enum class Border {
    reflect101,  ///< mirrored at the outermost pixel, which is not repeated: dcb|abcd|cba
    replicate,   ///< the nearest pixel repeated: aaa|abcd|ddd
    zero,        ///< black
};

/// Names of the borders in options.
inline constexpr NamedValue<Border> border_names[] = {
    {"reflect101", Border::reflect101}, {"replicate", Border::replicate}, {"zero", Border::zero}};

/// Name and help text of the `border` parameter, shared by the ParameterFields of every filter with a window.
ParameterInfo border_parameter();

/// Maps `index`, which may lie any distance outside, to a pixel in 0..size - 1. Returns -1 if `border` is `zero` and
/// the index lies outside. `size` is at least 1.
FRAMEWIRE_HOST_DEVICE constexpr int border_index(int index, int size, Border border) {
    if (index >= 0 && index < size) return index;
    if (border == Border::zero) return -1;
    if (border == Border::replicate) return index < 0 ? 0 : size - 1;
    if (size == 1) return 0;
    // The mirrored row repeats with a period of 2 * size - 2 pixels.
    const int period = 2 * size - 2;
    int offset = index % period;
    if (offset < 0) offset += period;
    return offset < size ? offset : period - offset;
}

/// Writes pixels begin <= x < end of a row of `width` pixels to `padded`, (end - begin) * channels bytes; pixels
/// outside the row come from `border`. `padded` must not overlap the row. A null `row` is a black row, as for a row
/// index of -1 from border_index().
void pad_row_part(const std::uint8_t* row, int width, int channels, int begin, int end, Border border,
                  std::uint8_t* padded);

}  // namespace framewire
