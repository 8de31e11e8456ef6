#include "framewire/cuda/kernel/grid.cuh"
#include "framewire/cuda/kernel/kernel_image.hpp"
#include "framewire/filters/binarize/document/document.hpp"

#include <cstdint>

namespace framewire {
namespace document_kernels {
namespace {

constexpr int divide_threads = 256;

// One thread per pixel; its cost is small compared with the morphology and the mean.
__global__ void __launch_bounds__(divide_threads)
    divide_kernel(cuda::KernelImage<const std::uint8_t> gray, cuda::KernelImage<const std::uint8_t> paper,
                  cuda::KernelImage<std::uint8_t> left, int width, int height, int channels, std::int64_t pixels) {
    const auto index = std::int64_t{blockIdx.x} * divide_threads + threadIdx.x;
    if (index >= pixels) return;
    const auto row = index / width;
    const auto x = index - row * width, frame = row / height, y = row - frame * height;
    const auto light = light_left(gray.data[frame * gray.frame_stride + y * gray.row_stride + x],
                                  paper.data[frame * paper.frame_stride + y * paper.row_stride + x]);
    auto* out = left.data + frame * left.frame_stride + y * left.row_stride + x * channels;
    for (int channel = 0; channel < channels; ++channel) out[channel] = light;
}

}  // namespace
}  // namespace document_kernels

void Document::divide(DeviceView<const std::uint8_t> gray, DeviceView<const std::uint8_t> paper,
                      DeviceView<std::uint8_t> left) const {
    using namespace document_kernels;
    const auto pixels = shape_.rows() * shape_.width;
    cuda::Launch(executor_->stream(), cuda::blocks(pixels, divide_threads), divide_threads)(
        divide_kernel, cuda::KernelImage(gray), cuda::KernelImage(paper), cuda::KernelImage(left), shape_.width,
        shape_.height, shape_.channels, pixels);
}

}  // namespace framewire
