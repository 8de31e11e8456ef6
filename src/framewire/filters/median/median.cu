#include "framewire/cuda/check.hpp"
#include "framewire/filters/median/median.hpp"

#include <algorithm>
#include <cstdint>

namespace framewire {
namespace {

constexpr int threads_per_block = 256;

struct Images {
    const std::uint8_t* in;
    std::uint8_t* out;
    std::int64_t in_row_stride, in_frame_stride, out_row_stride, out_frame_stride;
    int width, height, channels;
};

// The smallest value that more than half of the window does not exceed, found bit by bit.
__global__ void __launch_bounds__(threads_per_block) bisecting_median(Images images, int size, Border border) {
    const auto column = static_cast<int>(blockIdx.x) * threads_per_block + static_cast<int>(threadIdx.x);
    if (column >= images.width * images.channels) return;
    const int x = column / images.channels, channel = column % images.channels;
    const int y = static_cast<int>(blockIdx.y);
    const auto* in = images.in + blockIdx.z * images.in_frame_stride + channel;
    const int middle = size * size / 2;
    int median = 0;
    for (int bit = 128; bit > 0; bit /= 2) {
        int below = 0;
        for (int dy = -(size / 2); dy <= size / 2; ++dy)
            for (int dx = -(size / 2); dx <= size / 2; ++dx) {
                const int from_y = border_index(y + dy, images.height, border);
                const int from_x = border_index(x + dx, images.width, border);
                const int value =
                    from_y < 0 || from_x < 0 ? 0 : in[from_y * images.in_row_stride + from_x * images.channels];
                below += value < median + bit;
            }
        if (below <= middle) median += bit;
    }
    images.out[blockIdx.z * images.out_frame_stride + y * images.out_row_stride + column] =
        static_cast<std::uint8_t>(median);
}

}  // namespace

void Median::run(const FilterImages<MemorySpace::device>& images) const {
    validate(images.in, shape_, "median's image");
    validate(images.out, shape_, "median's result");
    constexpr int max_frames = 65535;  // a grid's depth
    for (int frame = 0; frame < shape_.frames; frame += max_frames) {
        const int frames = std::min(max_frames, shape_.frames - frame);
        const Images part{images.in.row(frame, 0),
                          images.out.row(frame, 0),
                          images.in.row_stride_bytes(),
                          images.in.frame_stride_bytes(),
                          images.out.row_stride_bytes(),
                          images.out.frame_stride_bytes(),
                          shape_.width,
                          shape_.height,
                          shape_.channels};
        const auto blocks = (shape_.row_bytes() + threads_per_block - 1) / threads_per_block;
        const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>(shape_.height), static_cast<unsigned>(frames));
        bisecting_median<<<grid, threads_per_block, 0, executor_->stream().handle()>>>(part, parameters_.size,
                                                                                      parameters_.border);
        cuda::check_launch();
    }
}

}  // namespace framewire
