#pragma once

#include <cuda_runtime.h>

namespace framewire::bench {

/// 32 bytes that a thread has at once, as two loads and stores of 16: the report's long4.
struct alignas(16) PixelChunk32 {
    uint4 low, high;
};

}  // namespace framewire::bench
