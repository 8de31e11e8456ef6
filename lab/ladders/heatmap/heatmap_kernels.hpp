#pragma once

#include "ladders/pictures/picture_kernel.hpp"

namespace framewire::bench {

/// The kernels of the heat map (streaming and filters 2022, section 4.2), one block each: byte by byte, and with reads
/// of 4 and of 32 bytes.
void launch_heatmap_bytes(const PictureBuffers& buffers, int threads, const cuda::Stream& stream);
void launch_heatmap_chunks_4(const PictureBuffers& buffers, int threads, const cuda::Stream& stream);
void launch_heatmap_chunks_32(const PictureBuffers& buffers, int threads, const cuda::Stream& stream);

}  // namespace framewire::bench
