#pragma once

#include "framewire/core/view.hpp"
#include "ladders/moving_objects/frame_size.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace framewire::bench::moving_objects {

// The hand-written detector (moving objects 2023, table 4): one thread, a plain loop for each step. Images are dense,
// and the values outside them are those of the kernels (kernels.hpp).

using BlurMatrix = std::array<float, matrix_px * matrix_px>;
using DiscMatrix = std::array<std::uint8_t, matrix_px * matrix_px>;

/// Returns the weights of the blur's rows and columns in 256ths, those that OpenCV uses for bytes.
std::array<int, matrix_px> blur_taps();
/// Returns the products of the weights: multiples of 2^-16 that add up to 1.
BlurMatrix blur_matrix();
/// Returns a matrix that is 1 inside a circle of diameter matrix_px, else 0.
DiscMatrix disc_matrix();

void grayscale(FrameSize size, const std::uint8_t* bgr, std::uint8_t* gray);
void blur(FrameSize size, const BlurMatrix& matrix, const std::uint8_t* in, std::uint8_t* out);
void difference(FrameSize size, const std::uint8_t* one, const std::uint8_t* other, std::uint8_t* out);
/// Applies the threshold in place.
void apply_threshold(FrameSize size, std::uint8_t* image);
void dilate(FrameSize size, const DiscMatrix& disc, const std::uint8_t* in, std::uint8_t* out);
void erode(FrameSize size, const DiscMatrix& disc, const std::uint8_t* in, std::uint8_t* out);

/// Labels components by union-find with 8 neighbours: a label is 0, or one more than the index of the component's
/// first pixel in raster order.
void label(FrameSize size, const std::uint8_t* mask, std::int32_t* labels);

/// Returns the components of label()'s result, in raster order of their first pixels (moving objects 2023, step 8).
std::vector<Component> components_of(FrameSize size, const std::int32_t* labels);

}  // namespace framewire::bench::moving_objects
