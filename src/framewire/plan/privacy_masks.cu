#include "framewire/cuda/check.hpp"
#include "framewire/cuda/kernel.cuh"
#include "framewire/cuda/kernel_image.hpp"
#include "framewire/plan/privacy_masks.hpp"

namespace framewire {
namespace {

constexpr int threads_per_block = 256;

// Arguments of the kernel.
struct Job {
    cuda::KernelImage<std::uint8_t> picture;
    Zone zone;
    int cell_px;
    bool black;
};

// One thread block per cell: it sums the pixels, synchronises, and fills the cell with the mean. Black cells skip the
// sum.
template <int channels>
__global__ void __launch_bounds__(threads_per_block) hide_kernel(Job job) {
    __shared__ std::uint32_t sums[channels];
    const int thread = static_cast<int>(threadIdx.x);
    if (thread < channels) sums[thread] = 0;
    __syncthreads();
    const int left = static_cast<int>(blockIdx.x) * job.cell_px, top = static_cast<int>(blockIdx.y) * job.cell_px;
    const int width = min(job.cell_px, job.zone.width - left), height = min(job.cell_px, job.zone.height - top);
    const int pixels = width * height;
    const auto pixel_at = [&](int pixel) {
        return job.picture.row(static_cast<int>(blockIdx.z), job.zone.y + top + pixel / width) +
               std::int64_t{job.zone.x + left + pixel % width} * channels;
    };
    // Black cells keep sums of 0.
    if (!job.black) {
        std::uint32_t own[channels] = {};
        for (int pixel = thread; pixel < pixels; pixel += threads_per_block) {
            const auto* bytes = pixel_at(pixel);
            for (int channel = 0; channel < channels; ++channel) own[channel] += bytes[channel];
        }
        for (int channel = 0; channel < channels; ++channel) atomicAdd(sums + channel, own[channel]);
    }
    __syncthreads();
    const auto count = static_cast<unsigned long long>(pixels);
    for (int pixel = thread; pixel < pixels; pixel += threads_per_block) {
        auto* bytes = pixel_at(pixel);
        for (int channel = 0; channel < channels; ++channel)
            bytes[channel] = static_cast<std::uint8_t>((2ull * sums[channel] + count) / (2 * count));
    }
}

}  // namespace

// Launches one kernel per mask: mosaic masks first, black masks last.
void PrivacyMasks::run(DeviceView<std::uint8_t> picture, const cuda::Stream& stream) const {
    const auto hide = [&](const Zone& zone, bool black) {
        const Job job{cuda::KernelImage<std::uint8_t>(picture), zone, cell_px_, black};
        const dim3 grid(cuda::blocks(zone.width, cell_px_), cuda::blocks(zone.height, cell_px_),
                        static_cast<unsigned>(picture.shape().frames));
        if (picture.shape().channels == 3)
            cuda::Launch(stream, grid, threads_per_block)(hide_kernel<3>, job);
        else
            cuda::Launch(stream, grid, threads_per_block)(hide_kernel<1>, job);
    };
    for (const auto& zone : mosaic_) hide(zone, false);
    for (const auto& zone : black_) hide(zone, true);
}

}  // namespace framewire
