#pragma once

// Only for .cu files: what reading blocks of any form takes.

#include "framewire/cuda/kernel/kernel_image.hpp"
#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/entropy/coder_tables.hpp"

#include <cstddef>
#include <cstdint>

namespace framewire::delta {

/// What blocks are read from and into, and with which tables.
struct DecodeImages {
    cuda::KernelImage<const std::uint8_t> before;
    cuda::KernelImage<std::uint8_t> after;
    int frame_width, frame_height;
    CoderTables tables;
};

/// A coded block: where it goes, what its frame says, and its bytes.
struct CodedBlockBytes {
    BlockPlace place;
    int stream, threshold;
    const std::uint8_t* bytes;
    std::uint32_t size;
};

/// By one warp.
__device__ inline void clear_memory(void* memory, std::size_t bytes) {
    for (auto i = threadIdx.x; i < bytes / 4; i += 32) static_cast<std::uint32_t*>(memory)[i] = 0;
    __syncwarp();
}

}  // namespace framewire::delta
