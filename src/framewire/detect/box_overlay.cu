#include "framewire/cuda/kernel.cuh"
#include "framewire/cuda/kernel_image.hpp"
#include "framewire/detect/box_overlay.hpp"

#include <algorithm>
#include <cstdint>

namespace framewire {
namespace {

constexpr int threads_per_block = 256;
// Only the GPU knows the number of boxes, so a grid of fixed size loops over them.
constexpr int blocks_per_frame = 32;

// The images of a launch.
struct Picture {
    cuda::KernelImage<const std::uint8_t> in;
    cuda::KernelImage<std::uint8_t> out;
    int width, height, channels, first_frame;
};

// The list of boxes as kernels read it.
struct Boxes {
    const Component* components;
    const std::int32_t* found;
    int capacity;

    // count() returns the boxes in the list; has_lost_some() is true if more were found than it can hold.
    __device__ int count(int frame) const { return min(found[frame], capacity); }
    __device__ bool has_lost_some(int frame) const { return found[frame] > capacity; }
    __device__ Component at(int frame, int index) const {
        return components[static_cast<std::int64_t>(frame) * capacity + index];
    }
};

// Each block draws every blocks_per_frame-th box. Where outlines cross, all blocks write the same colour.
__global__ void __launch_bounds__(threads_per_block) outline_kernel(Picture picture, Boxes boxes, BoxStyle style) {
    const int frame = picture.first_frame + static_cast<int>(blockIdx.y);
    const int count = boxes.count(frame);
    auto* image = picture.out.data + frame * picture.out.frame_stride;
    for (auto index = static_cast<int>(blockIdx.x); index < count; index += blocks_per_frame) {
        const auto box = boxes.at(frame, index);
        const int line_x = min(style.line_px, box.width), line_y = min(style.line_px, box.height);
        // Writes one pixel of the outline.
        const auto draw = [&](int x, int y) {
            auto* to = image + y * picture.out.row_stride + static_cast<std::int64_t>(x) * picture.channels;
            for (int channel = 0; channel < picture.channels; ++channel)
                to[channel] = static_cast<std::uint8_t>(channel_of(style.color, channel));
        };
        for (auto at = static_cast<int>(threadIdx.x); at < box.width * line_y; at += threads_per_block) {
            draw(box.x + at % box.width, box.y + at / box.width);
            draw(box.x + at % box.width, box.y + box.height - 1 - at / box.width);
        }
        for (auto at = static_cast<int>(threadIdx.x); at < box.height * line_x; at += threads_per_block) {
            draw(box.x + at / box.height, box.y + at % box.height);
            draw(box.x + box.width - 1 - at / box.height, box.y + at % box.height);
        }
    }
}

// Marks the cells that boxes touch. Blocks that mark the same cell write the same word.
__global__ void __launch_bounds__(threads_per_block)
    touch_kernel(Boxes boxes, int first_frame, int cell, int cells_across, int cells, std::uint32_t* hidden) {
    const int frame = first_frame + static_cast<int>(blockIdx.y);
    const int count = boxes.count(frame);
    auto* here = hidden + static_cast<std::int64_t>(frame) * cells;
    // The list is incomplete, so every cell is hidden.
    if (boxes.has_lost_some(frame)) {
        for (auto at = static_cast<int>(blockIdx.x * threads_per_block + threadIdx.x); at < cells;
             at += blocks_per_frame * threads_per_block)
            here[at] = 1;
        return;
    }
    for (auto index = static_cast<int>(blockIdx.x); index < count; index += blocks_per_frame) {
        const auto box = boxes.at(frame, index);
        const int left = box.x / cell, columns = (box.x + box.width - 1) / cell - left + 1;
        const int top = box.y / cell, rows = (box.y + box.height - 1) / cell - top + 1;
        for (auto at = static_cast<int>(threadIdx.x); at < columns * rows; at += threads_per_block)
            here[(top + at / columns) * cells_across + left + at % columns] = 1;
    }
}

// Replaces the marked cells by their means, one warp per cell.
__global__ void __launch_bounds__(threads_per_block)
    mean_kernel(Picture picture, int cell, int cells_across, int cells, const std::uint32_t* hidden) {
    const auto lane = threadIdx.x % 32;
    const auto index = static_cast<int>((blockIdx.x * threads_per_block + threadIdx.x) / 32);
    const int frame = picture.first_frame + static_cast<int>(blockIdx.y);
    if (index >= cells || !hidden[static_cast<std::int64_t>(frame) * cells + index]) return;
    const int x_begin = index % cells_across * cell, y_begin = index / cells_across * cell;
    const int row_bytes = min(cell, picture.width - x_begin) * picture.channels;
    const int rows = min(cell, picture.height - y_begin);
    const auto* in = picture.in.data + frame * picture.in.frame_stride + y_begin * picture.in.row_stride +
                     static_cast<std::int64_t>(x_begin) * picture.channels;
    auto* out = picture.out.data + frame * picture.out.frame_stride + y_begin * picture.out.row_stride +
                static_cast<std::int64_t>(x_begin) * picture.channels;
    // 30 is a multiple of 3, so each of the lanes 0 to 29 sums bytes of a single channel.
    constexpr int lanes = 30;
    std::uint64_t sum = 0;
    if (lane < lanes)
        for (int y = 0; y < rows; ++y)
            for (auto at = static_cast<int>(lane); at < row_bytes; at += lanes)
                sum += in[y * picture.in.row_stride + at];
    std::uint64_t total = 0;
    const auto pixels = static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(row_bytes / picture.channels);
    for (unsigned from = 0; from < lanes; ++from) {
        const auto other = __shfl_sync(~0u, sum, static_cast<int>(from));
        if (from % static_cast<unsigned>(picture.channels) == lane % static_cast<unsigned>(picture.channels))
            total += other;
    }
    const auto mean = static_cast<std::uint8_t>((2 * total + pixels) / (2 * pixels));
    if (lane < lanes)
        for (int y = 0; y < rows; ++y)
            for (auto at = static_cast<int>(lane); at < row_bytes; at += lanes)
                out[y * picture.out.row_stride + at] = mean;
}

}  // namespace

// Copies the image, then either draws outlines or marks cells and averages them. Frames are launched in groups that
// fit a grid.
void BoxOverlay::run(DeviceView<const std::uint8_t> in, const ComponentLists<MemorySpace::device>& lists,
                     DeviceView<std::uint8_t> out, int whole_frames) {
    validate(in, shape_, "the input of the box overlay");
    validate(out, shape_, "the output of the box overlay");
    const auto& stream = executor_->stream();
    cuda::copy(in, out, stream);
    const Boxes boxes{lists.components, lists.found, lists.capacity};
    if (style_.pixelate_px > 0) {
        // Any value but 0 hides the cell.
        const auto whole_bytes = hidden_.bytes() / static_cast<std::size_t>(shape_.frames) *
                                 static_cast<std::size_t>(std::clamp(whole_frames, 0, shape_.frames));
        if (whole_bytes > 0) cuda::fill(hidden_.data(), 1, whole_bytes, stream);
        if (whole_bytes < hidden_.bytes())
            cuda::fill(hidden_.data() + whole_bytes, 0, hidden_.bytes() - whole_bytes, stream);
    }
    cuda::for_frames(shape_.frames, 1, [&](int frame, int some_frames) {
        const auto frames = static_cast<unsigned>(some_frames);
        const Picture picture{cuda::KernelImage(in), cuda::KernelImage(out), shape_.width,
                              shape_.height,         shape_.channels,        frame};
        const dim3 grid(blocks_per_frame, frames);
        if (style_.pixelate_px == 0) {
            cuda::Launch(stream, grid, threads_per_block)(outline_kernel, picture, boxes, style_);
            return;
        }
        auto* hidden = hidden_.as<std::uint32_t>();
        const int cells = cells_across() * cells_down();
        cuda::Launch(stream, grid, threads_per_block)(touch_kernel, boxes, frame, style_.pixelate_px, cells_across(),
                                                      cells, hidden);
        constexpr int cells_per_block = threads_per_block / 32;
        const dim3 mean_grid(cuda::blocks(cells, cells_per_block), frames);
        cuda::Launch(stream, mean_grid, threads_per_block)(mean_kernel, picture, style_.pixelate_px, cells_across(),
                                                           cells, hidden);
    });
}

}  // namespace framewire
