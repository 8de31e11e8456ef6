#pragma once

#include "framewire/cuda/stream.hpp"

#include <cstdint>

namespace framewire::bench {

/// Arguments of kernels that make a picture of two frames, all in device memory: dense BGR.
struct PictureBuffers {
    const std::uint8_t* current;
    std::uint8_t* previous;  ///< some kernels draw over it
    std::uint8_t* out;
    std::int64_t bytes;  ///< size of each frame; a multiple of 96
};

/// Queues a kernel that makes a picture, as one block of `threads`, at most 1024.
using LaunchPicture = void (*)(const PictureBuffers& buffers, int threads, const cuda::Stream& stream);

}  // namespace framewire::bench
