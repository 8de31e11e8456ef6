#include "framewire/cuda/kernel.cuh"
#include "framewire/cuda/kernel_image.hpp"
#include "framewire/filters/gray.hpp"
#include "framewire/filters/gray_input.cuh"

#include <cstdint>

namespace framewire {
namespace {

constexpr int threads_per_block = warp_store_threads;
constexpr int group_px = gray_group_px;  // pixels per thread

// Geometry of a launch: the rows of a batch. A dense batch is treated as one long row.
struct Rows {
    cuda::KernelImage<const std::uint8_t> in;
    cuda::KernelImage<std::uint8_t> out;
    std::int64_t row_px;
    int rows_per_frame;
};

// One thread per group of 16 pixels. blockIdx.y counts the rows of all frames. Groups that are unaligned or cut off at
// the end of a row are handled pixel by pixel.
template <int in_channels, int out_channels, bool aligned>
__global__ void __launch_bounds__(threads_per_block) gray_kernel(Rows rows, SplitWeights weights) {
    const auto x = (std::int64_t{blockIdx.x} * threads_per_block + threadIdx.x) * group_px;
    if (x >= rows.row_px) return;
    const auto frame = blockIdx.y / rows.rows_per_frame, y = blockIdx.y % rows.rows_per_frame;
    const auto* in = rows.in.data + frame * rows.in.frame_stride + y * rows.in.row_stride + x * in_channels;
    auto* out = rows.out.data + frame * rows.out.frame_stride + y * rows.out.row_stride + x * out_channels;

    if (aligned && x + group_px <= rows.row_px) {
        store_gray(load_gray<in_channels>(in, weights), out_channels, is_whole_warp(x, rows.row_px), out);
        return;
    }
    // Handle unaligned groups and the end of a row.
    const auto pixels = static_cast<int>(min(std::int64_t{group_px}, rows.row_px - x));
    for (int pixel = 0; pixel < pixels; ++pixel) {
        const auto gray = load_gray_pixel<in_channels>(in + pixel * in_channels, weights);
        for (int channel = 0; channel < out_channels; ++channel)
            out[pixel * out_channels + channel] = static_cast<std::uint8_t>(gray);
    }
}

// Launches the instance for aligned or unaligned rows.
template <int in_channels, int out_channels>
void launch(const Rows& rows, int row_count, const SplitWeights& weights, bool aligned, const cuda::Stream& stream) {
    const dim3 grid(cuda::blocks(rows.row_px, threads_per_block * group_px), static_cast<unsigned>(row_count));
    if (aligned)
        cuda::Launch(stream, grid, threads_per_block)(gray_kernel<in_channels, out_channels, true>, rows, weights);
    else
        cuda::Launch(stream, grid, threads_per_block)(gray_kernel<in_channels, out_channels, false>, rows, weights);
}

}  // namespace

// A dense batch takes one launch with one long row. Otherwise, each launch takes as many rows as fit a grid.
void Gray::run(const FilterImages<MemorySpace::device>& images) const {
    validate(images.in, shape_, "gray's image");
    validate(images.out, output_shape(), "gray's result");
    const bool dense = images.in.dense() && images.out.dense();
    const auto one_row = dense ? cuda::OneRow::batch : cuda::OneRow::none;
    const Rows rows{cuda::KernelImage(images.in, one_row), cuda::KernelImage(images.out, one_row),
                    dense ? shape_.rows() * shape_.width : shape_.width, dense ? 1 : shape_.height};
    const bool aligned = rows.in.aligned_to(16) && rows.out.aligned_to(16);
    const auto weights = split(gray_weights(parameters_.method));
    const auto launch_part = [&](int first, int row_count) {
        auto part = rows;
        part.in = rows.in.from_frame(first);
        part.out = rows.out.from_frame(first);
        const auto& stream = executor_->stream();
        if (shape_.channels == 3)
            parameters_.channels == 3 ? launch<3, 3>(part, row_count, weights, aligned, stream)
                                      : launch<3, 1>(part, row_count, weights, aligned, stream);
        else
            parameters_.channels == 3 ? launch<1, 3>(part, row_count, weights, aligned, stream)
                                      : launch<1, 1>(part, row_count, weights, aligned, stream);
    };
    if (dense) return launch_part(0, 1);
    cuda::for_frames(shape_.frames, shape_.height,
                     [&](int first, int frames) { launch_part(first, frames * shape_.height); });
}

}  // namespace framewire
