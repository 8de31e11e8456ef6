#pragma once

#include "framewire/core/rows/image_rows.hpp"
#include "framewire/core/view.hpp"
#include "framewire/filters/binarize/threshold.hpp"

#include <cstdint>

namespace framewire {

/// Counts the gray values (gray's `weighted`) of rows begin..end-1 of a one-frame image on the calling thread into
/// `out`. The gray values of a BGR image are also written to `gray`, row by row, `gray_row_stride_bytes` apart; a
/// one-channel image is its own gray and leaves `gray` untouched. Each call has a fixed cost, about that of counting 50
/// 000 pixels.
void count_gray(HostView<const std::uint8_t> image, int begin, int end, std::uint8_t* gray,
                std::int64_t gray_row_stride_bytes, Histogram& out);

/// Faster variant for callers that need only the counts of groups of four values, and of the largest value. A group's
/// count is stored at its first value; the group of the largest value is stored at the largest value. Such histograms
/// may be added up.
void count_gray_groups(HostView<const std::uint8_t> image, int begin, int end, std::uint8_t* gray,
                       std::int64_t gray_row_stride_bytes, Histogram& out);
/// As above for gray rows of `width` pixels that `make` writes to `gray`, a few rows at a time.
void count_gray_groups(const MakeRows& make, int width, const RowRange& rows, std::uint8_t* gray,
                       std::int64_t gray_row_stride_bytes, Histogram& out);

}  // namespace framewire
