#pragma once

#include "framewire/core/thread_pool.hpp"
#include "framewire/core/view.hpp"

namespace framewire {

/// Whether dilate_by_square takes images of `shape`: narrower ones than a vector it does not.
bool square_fits(const Shape& shape);

/// Dilates, or erodes, by the square of 2 * radius + 1 pixels, 1 at least; what lies outside the image is neutral.
/// Columns first: a window's rows are the last of one group of as many rows and the first of the next, of which running
/// maxima are kept (van Herk 1992, Gil and Werman 1993). Then rows: maxima of 4 pixels, of those maxima of 16, and so
/// on; runs that overlap harm nothing. In and out: one shape that fits, any strides, no overlap; 1 or 3 channels.
void dilate_by_square(bool erodes, int radius, HostView<const std::uint8_t> in, HostView<std::uint8_t> out,
                      const ThreadPool& pool);

}  // namespace framewire
