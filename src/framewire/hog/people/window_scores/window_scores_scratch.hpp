#pragma once

// How the weights lie in memory on the CPU.

namespace framewire {

/// Values that a row of weights is a multiple of: the largest vector's.
inline constexpr int window_weights_group = 16;

/// Rows of zeros above and below, so that windows one above the other pass over the same rows of descriptors.
inline constexpr int window_weights_rows_around = 2;

}  // namespace framewire
