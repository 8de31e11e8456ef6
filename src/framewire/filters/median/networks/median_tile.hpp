#pragma once

namespace framewire {

/// Names one of the generated networks (networks/print_networks.cpp has their list): medians of size x size pixels for
/// tiles of width x height.
template <int size, int width, int height>
struct MedianTile {};

/// From this size on neighbouring tiles share sorted strips, which take longer to sort than to keep.
inline constexpr int smallest_median_of_strips = 9;

}  // namespace framewire
