#pragma once

#include "ladders/pictures/picture_kernel.hpp"

#include <cstdint>

namespace framewire::bench {

/// The kernels of the noise visualizer (streaming and filters 2022, section 5), one block each, with reads of 16
/// bytes: they write every byte (5.0.2), every red byte (5.0.3), the red bytes of noisy pixels (5.0.4), or these
/// bytes over the previous frame (5.0.5).
void launch_noise_all_bytes(const PictureBuffers& buffers, int threads, const cuda::Stream& stream);
void launch_noise_red_bytes(const PictureBuffers& buffers, int threads, const cuda::Stream& stream);
void launch_noise_red_where_noisy(const PictureBuffers& buffers, int threads, const cuda::Stream& stream);
void launch_noise_over_previous(const PictureBuffers& buffers, int threads, const cuda::Stream& stream);

/// Queues the kernel of section 5.0.6, which reddens the pixels at `count` positions, all inside the picture, as one
/// block of `threads`.
void launch_noise_from_positions(const std::uint32_t* positions, std::uint32_t count, std::uint8_t* picture,
                                 int threads, const cuda::Stream& stream);

}  // namespace framewire::bench
