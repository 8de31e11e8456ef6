#pragma once

#include "framewire/core/rows/channel_rows.hpp"
#include "framewire/core/rows/image_rows.hpp"

namespace framewire {

/// Returns a function that makes the gray rows of an image, as the filter `gray` (weighted) does, from the rows
/// that `make` writes, which have `channels` bytes per pixel, 1 or 3. A few rows are converted at a time in a
/// core's cache. The result refers to `make`.
MakeRows gray_rows(const MakeRows& make, int channels);

/// The same for rows with planar channels.
MakeChannelRows channel_rows(const MakeRows& make, int width, int channels);

}  // namespace framewire
