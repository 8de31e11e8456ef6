// Every function of the kernel headers that selects features of sm_80 by __CUDA_ARCH__. The preset cuda-objects
// compiles it for all GPUs of `release`.

#define FRAMEWIRE_CUDA 1  // as the targets define it
#include "framewire/cuda/kernel.cuh"

namespace framewire {

__global__ void all_gpus(std::uint32_t* values, const std::uint8_t* bytes) {
    __shared__ alignas(cuda::chunk_bytes) std::uint8_t chunk[cuda::chunk_bytes];
    cuda::copy_chunk_async(chunk, bytes, 7);
    cuda::commit_copies();
    cuda::wait_for_copies<0>();
    const auto value = values[threadIdx.x] + chunk[0];
    values[threadIdx.x] = cuda::warp_sum(value) + cuda::warp_or(value) + cuda::warp_max(value);
}

}  // namespace framewire
