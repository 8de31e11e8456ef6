#pragma once

namespace framewire {

/// Tag that names one of the generated networks (listed in print_networks.cpp): medians of size x size pixels for tiles
/// of width x height.
template <int size, int width, int height>
struct MedianTile {};

/// Smallest size for which adjacent tiles share sorted strips. From this size on, sorting strips takes longer than
/// storing them.
inline constexpr int smallest_median_of_strips = 9;

}  // namespace framewire
