#include "framewire/cuda/check.hpp"
#include "framewire/filters/gray/gray.cuh"

#include <algorithm>
#include <cstdint>
#include <initializer_list>

namespace framewire {
namespace {

constexpr int threads_per_block = warp_store_threads;
constexpr int group_px = gray_group_px;  // pixels a thread

// Rows of a batch; a dense batch is one long row.
struct Rows {
    const std::uint8_t* in;
    std::uint8_t* out;
    std::int64_t in_row_stride, in_frame_stride, out_row_stride, out_frame_stride;
    std::int64_t row_px;
    int rows_per_frame;
};

template <int in_channels, int out_channels, bool aligned>
__global__ void __launch_bounds__(threads_per_block) gray_kernel(Rows rows, SplitWeights weights) {
    const auto x = (std::int64_t{blockIdx.x} * threads_per_block + threadIdx.x) * group_px;
    if (x >= rows.row_px) return;
    const auto frame = blockIdx.y / rows.rows_per_frame, y = blockIdx.y % rows.rows_per_frame;
    const auto* in = rows.in + frame * rows.in_frame_stride + y * rows.in_row_stride + x * in_channels;
    auto* out = rows.out + frame * rows.out_frame_stride + y * rows.out_row_stride + x * out_channels;

    if (aligned && x + group_px <= rows.row_px) {
        store_gray(load_gray<in_channels>(in, weights), out_channels, is_whole_warp(x, rows.row_px), out);
        return;
    }
    const auto pixels = static_cast<int>(min(std::int64_t{group_px}, rows.row_px - x));
    for (int pixel = 0; pixel < pixels; ++pixel) {
        const auto gray = load_gray_pixel<in_channels>(in + pixel * in_channels, weights);
        for (int channel = 0; channel < out_channels; ++channel)
            out[pixel * out_channels + channel] = static_cast<std::uint8_t>(gray);
    }
}

template <int in_channels, int out_channels>
void launch(const Rows& rows, std::int64_t row_count, const SplitWeights& weights, bool aligned, cudaStream_t stream) {
    const auto groups = (rows.row_px + group_px - 1) / group_px;
    const dim3 grid(static_cast<unsigned>((groups + threads_per_block - 1) / threads_per_block),
                    static_cast<unsigned>(row_count));
    if (aligned)
        gray_kernel<in_channels, out_channels, true><<<grid, threads_per_block, 0, stream>>>(rows, weights);
    else
        gray_kernel<in_channels, out_channels, false><<<grid, threads_per_block, 0, stream>>>(rows, weights);
    cuda::check_launch();
}

bool multiple_of_16(std::initializer_list<std::int64_t> numbers) {
    for (const auto number : numbers)
        if (number % 16 != 0) return false;
    return true;
}

}  // namespace

void Gray::run(const FilterImages<MemorySpace::device>& images) const {
    validate(images.in, shape_, "gray's image");
    validate(images.out, output_shape(), "gray's result");
    const auto in = images.in;
    const auto out = images.out;
    Rows rows{in.data(),
              out.data(),
              in.row_stride_bytes(),
              in.frame_stride_bytes(),
              out.row_stride_bytes(),
              out.frame_stride_bytes(),
              shape_.width,
              shape_.height};
    std::int64_t row_count = shape_.rows();
    const bool dense = in.dense() && out.dense();
    if (dense) {
        rows.row_px = shape_.rows() * shape_.width;
        rows.rows_per_frame = 1;
        row_count = 1;
    }
    const auto address = [](const void* pointer) {
        return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(pointer));
    };
    const bool aligned = multiple_of_16({address(in.data()), address(out.data())}) &&
                         (dense || multiple_of_16({rows.in_row_stride, rows.in_frame_stride, rows.out_row_stride,
                                                   rows.out_frame_stride}));
    const auto weights = split(gray_weights(parameters_.method));
    // A grid is at most 65535 blocks high: larger batches of rows with gaps go frame by frame.
    const auto frames_each = dense ? shape_.frames : std::max(1, 65535 / shape_.height);
    for (int frame = 0; frame < shape_.frames; frame += frames_each) {
        auto part = rows;
        part.in += frame * rows.in_frame_stride;
        part.out += frame * rows.out_frame_stride;
        const auto part_rows =
            dense ? row_count : std::int64_t{std::min(frames_each, shape_.frames - frame)} * shape_.height;
        const auto stream = executor_->stream().handle();
        if (shape_.channels == 3)
            parameters_.channels == 3 ? launch<3, 3>(part, part_rows, weights, aligned, stream)
                                      : launch<3, 1>(part, part_rows, weights, aligned, stream);
        else
            parameters_.channels == 3 ? launch<1, 3>(part, part_rows, weights, aligned, stream)
                                      : launch<1, 1>(part, part_rows, weights, aligned, stream);
    }
}

}  // namespace framewire
