#include "framewire/cuda/kernel/grid.cuh"
#include "framewire/detect/masks/mask_region.hpp"

#include <cstdint>

namespace framewire {
namespace mask_region_kernels {
namespace {

constexpr int threads_per_block = 256;

// Each thread keeps the region's bits of four words; rows are multiples of four words.
__global__ void __launch_bounds__(threads_per_block)
    keep_kernel(const uint4* region, std::int64_t frame_quads, uint4* masks, std::int64_t quads) {
    const auto index = std::int64_t{blockIdx.x} * threads_per_block + threadIdx.x;
    if (index >= quads) return;
    const auto keep = region[index % frame_quads];
    auto mask = masks[index];
    mask = {mask.x & keep.x, mask.y & keep.y, mask.z & keep.z, mask.w & keep.w};
    masks[index] = mask;
}

}  // namespace
}  // namespace mask_region_kernels

void MaskRegion::apply(DeviceBitMaskView<std::uint32_t> masks) const {
    using namespace mask_region_kernels;
    require_same_size(masks.shape());
    const auto frame_quads = masks.frame_words() / 4, quads = frame_quads * masks.shape().frames;
    const auto blocks = cuda::blocks(quads, threads_per_block);
    cuda::Launch(executor_->stream(), blocks, threads_per_block)(
        keep_kernel, reinterpret_cast<const uint4*>(region_.view<MemorySpace::device>().data()), frame_quads,
        reinterpret_cast<uint4*>(masks.data()), quads);
}

}  // namespace framewire
