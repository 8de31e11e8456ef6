#include "framewire/cuda/buffer.hpp"
#include "framewire/filters/noise.hpp"
#include "framewire/filters/pointwise.cuh"

// Noise on the GPU. For two frames, one kernel does everything. For known changes, one kernel draws the background and
// a second one marks the changed pixels in red.

namespace framewire {
namespace {

using namespace pointwise;

// Draws a group of 16 pixels per thread.
__global__ void __launch_bounds__(threads_per_block)
    noise_kernel(Rows rows, Image in, Image previous, Image out, int threshold, NoiseUnder under) {
    const Place place(rows);
    auto group = load(in, place);
    const auto before = load(previous, place);
    map_pixels(group, before, [&](Pixel now, Pixel then) { return noise_pixel(now, then, threshold, under); });
    store(group, out, place);
}

// Copies one or three channels to three. If `in` has no memory, fills with black.
__global__ void __launch_bounds__(threads_per_block) background_kernel(Rows rows, Image in, Image out) {
    const Place place(rows);
    store(in.data ? load(in, place) : Group{}, out, place);
}

// Marks the changed pixels. A block takes positions of one frame; blockIdx.y counts frames. If two positions belong to
// one pixel, they write the same byte.
__global__ void __launch_bounds__(threads_per_block)
    mark_kernel(ChangedBytes<MemorySpace::device> changes, int first_frame, Image out, std::uint32_t channels,
                std::uint32_t width, std::uint64_t frame_bytes) {
    const auto frame = first_frame + static_cast<int>(blockIdx.y);
    const auto* positions = changes.positions + frame * changes.capacity;
    const auto count = min(std::int64_t{changes.counts[frame * changes.count_stride]}, changes.capacity);
    const auto stride = std::int64_t{gridDim.x} * threads_per_block;
    for (auto index = std::int64_t{blockIdx.x} * threads_per_block + threadIdx.x; index < count; index += stride) {
        // Positions are read only once, so they need not stay in the cache.
        const auto position = __ldcs(positions + index);
        if (position >= frame_bytes) continue;
        const auto pixel = position / channels;
        out.data[frame * out.frame_stride + pixel / width * out.row_stride + std::int64_t{pixel % width} * 3 + 2] = 255;
    }
}

}  // namespace

void Noise::run(const FilterImages<MemorySpace::device>& images) const {
    validate(images.in, shape_, "noise's image");
    validate(images.previous, shape_, "noise's previous image");
    validate(images.out, output_shape(), "noise's result");
    const bool dense = images.in.dense() && images.previous.dense() && images.out.dense();
    for_each_launch(shape_, dense, [&](const Rows& rows, dim3 grid) {
        cuda::Launch(executor_->stream(), grid, threads_per_block)(
            noise_kernel, rows, image_of(images.in, dense), image_of(images.previous, dense),
            image_of(images.out, dense), parameters_.threshold, noise_under(parameters_));
    });
}

// If the background is black, as in mask mode, no image is read.
void NoiseFromChanges::run(const ChangedBytes<MemorySpace::device>& changes, DeviceView<const std::uint8_t> in,
                           DeviceView<std::uint8_t> out) const {
    validate(out, output_shape(), "noise's result");
    const bool overlay = mode_ == NoiseMode::overlay;
    if (overlay) validate(in, shape_, "noise's image");
    const auto& stream = executor_->stream();
    const bool dense = out.dense() && (!overlay || in.dense());
    const auto background = overlay ? image_of(in, dense) : Image{};
    for_each_launch(shape_, dense, [&](const Rows& rows, dim3 grid) {
        cuda::Launch(stream, grid, threads_per_block)(background_kernel, rows, background, image_of(out, dense));
    });
    for_changes(shape_, [&](int first_frame, dim3 grid) {
        cuda::Launch(stream, grid, threads_per_block)(
            mark_kernel, changes, first_frame, image_of(out, false), static_cast<std::uint32_t>(shape_.channels),
            static_cast<std::uint32_t>(shape_.width), static_cast<std::uint64_t>(shape_.frame_bytes()));
    });
}

}  // namespace framewire
