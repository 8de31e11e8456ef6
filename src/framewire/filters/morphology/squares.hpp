#pragma once

#include "framewire/core/thread_pool.hpp"
#include "framewire/core/view.hpp"

namespace framewire {

/// Returns true if dilate_by_square() supports images of `shape`. Images narrower than a vector are not supported.
bool square_fits(const Shape& shape);

/// Dilates or erodes by a square with a side of 2 * radius + 1 pixels, radius at least 1; pixels outside the image are
/// neutral.
///
/// Columns first: the rows of a window are the end of one group of as many rows and the start of the next, and running
/// maxima are kept in both directions from the boundary (van Herk 1992, Gil and Werman 1993), so each pixel takes about
/// three comparisons whatever the size. Then rows: maxima of 4 pixels, of those maxima of 16, and so on; overlapping
/// runs do no harm.
///
/// `in` and `out`: one shape for which square_fits() holds, 1 or 3 channels, any strides, no overlap.
void dilate_by_square(bool erodes, int radius, HostView<const std::uint8_t> in, HostView<std::uint8_t> out,
                      const ThreadPool& pool);

}  // namespace framewire
