#pragma once

#include "framewire/core/rows/image_rows.hpp"
#include "framewire/core/view.hpp"
#include "framewire/filters/binarize/threshold.hpp"

#include <cstdint>

namespace framewire {

/// Counts the gray values (gray's `weighted`) of rows begin..end-1 of a frame's image on the calling thread. A BGR
/// image's gray values go to `gray` row by row, `gray_row_stride_bytes` apart; one of a single channel is its own gray
/// and `gray` is not touched. A call costs as much as counting 50 000 pixels beside those of its rows.
void count_gray(HostView<const std::uint8_t> image, int begin, int end, std::uint8_t* gray,
                std::int64_t gray_row_stride_bytes, Histogram& out);

/// The same in less time, where groups of four values and the largest value are all that counts: a group's count stands
/// at its first value, but for one of the largest value, at that. Sums of such are such.
void count_gray_groups(HostView<const std::uint8_t> image, int begin, int end, std::uint8_t* gray,
                       std::int64_t gray_row_stride_bytes, Histogram& out);
/// The same of gray rows of `width` pixels that `make` makes some at a time, at `gray`.
void count_gray_groups(const MakeRows& make, int width, const RowRange& rows, std::uint8_t* gray,
                       std::int64_t gray_row_stride_bytes, Histogram& out);

}  // namespace framewire
