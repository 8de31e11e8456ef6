#pragma once

#include <cstddef>

namespace framewire::bench::moving_objects {

/// Size of a frame in pixels.
struct FrameSize {
    int width, height;

    constexpr std::size_t pixels() const { return static_cast<std::size_t>(width) * static_cast<std::size_t>(height); }
};

/// Side of the matrices of blur and morphology, and their reach from the middle (moving objects 2023, section 3).
inline constexpr int matrix_px = 15;
inline constexpr int matrix_reach_px = matrix_px / 2;

/// A pixel is foreground if it differs from the background by more than this.
inline constexpr int foreground_threshold = 20;

}  // namespace framewire::bench::moving_objects
