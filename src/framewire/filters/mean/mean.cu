#include "framewire/cuda/check.hpp"
#include "framewire/filters/mean/mean.hpp"
#include "framewire/filters/window.hpp"

#include <algorithm>
#include <cstdint>

namespace framewire {
namespace {

struct Rows {
    const std::uint8_t* in;
    std::uint8_t* out;
    std::int64_t in_row_stride, in_frame_stride, out_row_stride, out_frame_stride;
};

__global__ void mean_kernel(Rows rows, Shape shape, MeanParameters parameters, MeanDivision division) {
    const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), y = static_cast<int>(blockIdx.y);
    if (x >= shape.width) return;
    const auto reach = window_reach(parameters.size);
    for (int frame = static_cast<int>(blockIdx.z); frame < shape.frames; frame += static_cast<int>(gridDim.z))
        for (int channel = 0; channel < shape.channels; ++channel) {
            std::uint32_t sum = division.bias;
            for (int dy = -reach.before; dy <= reach.after; ++dy)
                for (int dx = -reach.before; dx <= reach.after; ++dx) {
                    const int from_y = border_index(y + dy, shape.height, parameters.border);
                    const int from_x = border_index(x + dx, shape.width, parameters.border);
                    if (from_y >= 0 && from_x >= 0) sum += rows.in[frame * rows.in_frame_stride + from_y * rows.in_row_stride + from_x * shape.channels + channel];
                }
            rows.out[frame * rows.out_frame_stride + y * rows.out_row_stride + x * shape.channels + channel] =
                static_cast<std::uint8_t>(std::uint64_t{sum} * division.multiplier >> division.shift);
        }
}

}  // namespace

void Mean::run(const FilterImages<MemorySpace::device>& images) const {
    validate(images.in, shape_, "mean's image");
    validate(images.out, shape_, "mean's result");
    const dim3 grid((static_cast<unsigned>(shape_.width) + 127) / 128, static_cast<unsigned>(shape_.height),
                    static_cast<unsigned>(std::min(shape_.frames, 65535)));
    mean_kernel<<<grid, 128, 0, executor_->stream().handle()>>>(
        {images.in.data(), images.out.data(), images.in.row_stride_bytes(), images.in.frame_stride_bytes(),
         images.out.row_stride_bytes(), images.out.frame_stride_bytes()},
        shape_, parameters_, mean_division(parameters_.size, 32));
    cuda::check_launch();
}

}  // namespace framewire
