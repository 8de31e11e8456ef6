#pragma once

#include "framewire/cuda/stream.hpp"

#include <cstdint>

namespace framewire::bench::hog_report {

// The kernels of HOG 2022; each function queues one. All pointers are to device memory; images are dense and, except
// for BGR, have one channel. steps.hpp lists what was corrected.

void queue_grayscale(const std::uint8_t* bgr, std::uint32_t pixels, std::uint8_t* gray, const cuda::Stream& stream);
/// Adds to 64 counts in blocks of 64 threads, each with a histogram in shared memory, and raises `most` to the maximum
/// (figure 3).
void queue_histogram(const std::uint8_t* gray, std::uint32_t pixels, std::uint32_t* counts, std::uint32_t* most,
                     const cuda::Stream& stream);
/// Computes most * (gray / most)^exponent, in place.
void queue_gamma(std::uint8_t* gray, std::uint32_t pixels, double most, double exponent, const cuda::Stream& stream);
/// Computes Sobel gradients in both directions, in blocks of 32x16 with their tile in shared memory and the masks in
/// constant memory.
void queue_gradients(const std::uint8_t* gray, int width, int height, std::int16_t* across, std::int16_t* down,
                     const cuda::Stream& stream);
/// Uses blocks of 32 threads.
void queue_magnitudes_and_directions(const std::int16_t* across, const std::int16_t* down, std::uint32_t pixels,
                                     float* magnitudes, float* directions, const cuda::Stream& stream);
/// Adds each pixel's two votes to its cell with atomics, in square blocks.
void queue_votes(const float* magnitudes, const float* directions, int width, int height, int block_px,
                 float* descriptors, const cuda::Stream& stream);

}  // namespace framewire::bench::hog_report
