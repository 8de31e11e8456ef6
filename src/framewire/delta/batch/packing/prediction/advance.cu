#include "framewire/cuda/kernel/kernel_image.hpp"
#include "framewire/cuda/kernel/launch.cuh"
#include "framewire/cuda/kernel/warp.cuh"
#include "framewire/delta/batch/packing/prediction/advance.hpp"

#include <algorithm>
#include <cstdint>

namespace framewire::delta {
namespace advance_kernels {
namespace {

// Updates the reference pictures with the coded blocks and measures the remaining error.
//
//     grid.x     items of the list, with a stride of gridDim.x
//     warp w     rows w, w + 4, ... of a block
//     lane i     bytes i, i + 32, ... of a row: reads camera and after, writes before
constexpr int advance_threads = 128;

struct Job {
    cuda::KernelImage<const std::uint8_t> camera, after;
    cuda::KernelImage<std::uint8_t> before;
    BatchBlocks blocks;
    BlockList list;
    const std::uint8_t* is_camera;
    Summary* summaries;
};

__global__ void __launch_bounds__(advance_threads) advance_kernel(Job job) {
    const auto count = job.list.size();
    for (auto item = blockIdx.x; item < count; item += gridDim.x) {
        const int block = job.list.block(job.list.place(item)), stream = job.blocks.stream(block);
        const auto place = job.blocks.place(block);
        const int row_bytes = place.width * job.blocks.channels, lane = static_cast<int>(threadIdx.x % 32);
        std::uint32_t largest = 0, squared = 0;
        for (int y = static_cast<int>(threadIdx.x / 32); y < place.height; y += advance_threads / 32) {
            const auto from = std::int64_t{place.x} * job.blocks.channels;
            // A stream that got a lossless keyframe takes the camera's picture.
            const auto& taken = job.is_camera && job.is_camera[stream] ? job.camera : job.after;
            const auto* after = taken.row(stream, place.y + y) + from;
            const auto* now = job.camera.row(stream, place.y + y) + from;
            auto* held = job.before.row(stream, place.y + y) + from;
            for (int i = lane; i < row_bytes; i += 32) {
                const int sample = after[i];
                const auto error = static_cast<std::uint32_t>(abs(now[i] - sample));
                held[i] = static_cast<std::uint8_t>(sample);
                largest = max(largest, error);
                squared += error * error;
            }
        }
        largest = cuda::warp_max(largest);
        squared = cuda::warp_sum(squared);
        if (lane != 0) continue;
        auto& summary = job.summaries[stream];
        if (largest) atomicMax(&summary.max_error, largest);
        if (squared)
            atomicAdd(reinterpret_cast<unsigned long long*>(&summary.squared_error),
                      static_cast<unsigned long long>(squared));
    }
}

}  // namespace
}  // namespace advance_kernels

void advance_blocks(DeviceView<const std::uint8_t> camera, DeviceView<const std::uint8_t> after,
                    DeviceView<std::uint8_t> before, const BlockList& list, const std::uint8_t* is_camera,
                    Summary* summaries, const cuda::Stream& stream) {
    using namespace advance_kernels;
    const auto& shape = camera.shape();
    const Job job{cuda::KernelImage(camera),
                  cuda::KernelImage(after),
                  cuda::KernelImage(before),
                  {BlockGrid(shape), shape.channels, shape.frames},
                  list,
                  is_camera,
                  summaries};
    constexpr unsigned most = 4096;
    cuda::Launch(stream, std::min(most, static_cast<unsigned>(job.blocks.count())), advance_threads)(advance_kernel,
                                                                                                     job);
}

}  // namespace framewire::delta
