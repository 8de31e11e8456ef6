#pragma once

#include "framewire/core/rows/channel_rows.hpp"
#include "framewire/core/rows/image_rows.hpp"

namespace framewire {

/// The gray of an image's rows, as the filter `gray` (weighted) has it, where `make` makes those: of `channels` bytes a
/// pixel, 1 or 3, a few at a time in a core's cache. The result keeps a reference to `make`.
MakeRows gray_rows(const MakeRows& make, int channels);

/// The same rows with their channels apart.
MakeChannelRows channel_rows(const MakeRows& make, int width, int channels);

}  // namespace framewire
