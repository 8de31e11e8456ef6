// Every function that uses features of sm_80, which sources select by __CUDA_ARCH__. The preset cuda-objects compiles
// it for all GPUs of `release`.

#include "framewire/cuda/kernel.cuh"
#include "framewire/filters/kernel/byte_products.cuh"

using namespace framewire;

__global__ void all_gpus(std::uint32_t* values, const std::uint8_t* bytes) {
    __shared__ alignas(cuda::chunk_bytes) std::uint8_t chunk[cuda::chunk_bytes];
    cuda::copy_chunk_async(chunk, bytes, 7);
    cuda::commit_copies();
    cuda::wait_for_copies<0>();
    const auto value = values[threadIdx.x] + chunk[0];
    auto joined = cuda::warp_sum(value) + cuda::warp_or(value) + cuda::warp_max(value);
    auto sums = multiply_add(Sums{{value, value, value, value}}, {value, value, value, value}, value, value);
    sums = multiply_add(sums, {value, value}, value);
    for (const auto sum : sums.sum) joined += sum;
    values[threadIdx.x] = joined;
}
