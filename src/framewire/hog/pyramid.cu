#include "framewire/cuda/kernel.cuh"
#include "framewire/cuda/kernel_image.hpp"
#include "framewire/hog/hog.hpp"
#include "framewire/hog/pyramid.hpp"

#include <cstdint>

namespace framewire {
namespace {

constexpr int threads_across = 32,
              threads_down = 8;  // threads per block; one thread per pixel, and one layer per plane

// The planes of an image, and those that they are computed from.
struct Images {
    cuda::KernelImage<const std::uint8_t> from;
    int from_width, from_height;
    cuda::KernelImage<std::uint8_t> to;
    int width, height;
    unsigned planes;

    // Returns the first pixel of the block's plane.
    __device__ const std::uint8_t* from_plane() const { return from.data + blockIdx.z * from.frame_stride; }
    __device__ std::uint8_t* to_plane() const { return to.data + blockIdx.z * to.frame_stride; }
};

// Returns the arguments for a pair of images.
Images images(DeviceView<const std::uint8_t> from, DeviceView<std::uint8_t> to) {
    return {cuda::KernelImage(from),
            from.shape().width,
            from.shape().height,
            cuda::KernelImage(to),
            to.shape().width,
            to.shape().height,
            static_cast<unsigned>(to.shape().frames)};
}

dim3 grid_of(const Images& images) {
    return {cuda::blocks(images.width, threads_across), cuda::blocks(images.height, threads_down), images.planes};
}

// Computes an octave from the previous one: means of 2x2 pixels.
__global__ void __launch_bounds__(threads_across* threads_down) halve_kernel(Images images) {
    const int x = static_cast<int>(blockIdx.x) * threads_across + static_cast<int>(threadIdx.x);
    const int y = static_cast<int>(blockIdx.y) * threads_down + static_cast<int>(threadIdx.y);
    if (x >= images.width || y >= images.height) return;
    const auto* upper = images.from_plane() + 2 * y * images.from.row_stride + 2 * x;
    const auto* lower = upper + images.from.row_stride;
    images.to_plane()[y * images.to.row_stride + x] =
        static_cast<std::uint8_t>((upper[0] + upper[1] + lower[0] + lower[1] + 2) >> 2);
}

// Computes a level from its octave by bilinear interpolation.
__global__ void __launch_bounds__(threads_across* threads_down) level_kernel(Images images, std::int64_t step) {
    const int x = static_cast<int>(blockIdx.x) * threads_across + static_cast<int>(threadIdx.x);
    const int y = static_cast<int>(blockIdx.y) * threads_down + static_cast<int>(threadIdx.y);
    if (x >= images.width || y >= images.height) return;
    const auto column = pyramid_sample(x, step, images.from_width);
    const auto row = pyramid_sample(y, step, images.from_height);
    const auto* from = images.from_plane();
    const auto* upper = from + row.index * images.from.row_stride;
    const auto* lower = from + min(row.index + 1, images.from_height - 1) * images.from.row_stride;
    const int left = column.index, right = min(left + 1, images.from_width - 1);
    images.to_plane()[y * images.to.row_stride + x] =
        pyramid_value(pyramid_blend(upper[left], lower[left], row.share),
                      pyramid_blend(upper[right], lower[right], row.share), column.share);
}

}  // namespace

// Each octave waits for the previous one on the same stream.
void ImagePyramid::run_octaves(DeviceView<const std::uint8_t> frame) {
    const auto device = [&](const Plane& plane) { return view<MemorySpace::device>(memory_.data(), plane); };
    if (planes_ == 1) {
        gray_.run({frame, {}, device(octaves_[0])});
    } else {
        validate(frame, shape_, "the pyramid's frame");
        hog_split_on_device(frame, device(octaves_[0]), executor_->stream());
    }
    for (std::size_t octave = 1; octave < octaves_.size(); ++octave) {
        const auto job = images(device(octaves_[octave - 1]), device(octaves_[octave]));
        cuda::Launch(executor_->stream(), grid_of(job), dim3(threads_across, threads_down))(halve_kernel, job);
    }
}

void ImagePyramid::run_level(int number) {
    const auto& level = levels_.at(static_cast<std::size_t>(number));
    if (level.step == pyramid_pixel) return;  // the level is an octave
    const auto device = [&](const Plane& plane) { return view<MemorySpace::device>(memory_.data(), plane); };
    const auto job = images(device(octaves_[static_cast<std::size_t>(level.octave)]), device(level.plane));
    cuda::Launch(executor_->stream(), grid_of(job), dim3(threads_across, threads_down))(level_kernel, job, level.step);
}

void ImagePyramid::run(DeviceView<const std::uint8_t> frame) {
    run_octaves(frame);
    for (int number = 0; number < levels(); ++number) run_level(number);
}

}  // namespace framewire
