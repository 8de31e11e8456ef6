#include "framewire/filters/heatmap.hpp"
#include "framewire/filters/pointwise.cuh"

// The heat map on the GPU. From frames: one kernel. From changes: one kernel fills the result with the color of
// unchanged pixels, a second one draws the changed ones.

namespace framewire {
namespace {

using namespace pointwise;

// Draws a group of 16 pixels per thread.
__global__ void __launch_bounds__(threads_per_block)
    heatmap_kernel(Rows rows, Image in, Image previous, Image out, const Pixel* table) {
    __shared__ HeatmapColours colours;
    const Place place(rows);
    // The frames' loads overlap with loading the table.
    auto group = load(in, place);
    const auto before = load(previous, place);
    colours.fetch(table);
    map_pixels(group, before, [&](Pixel now, Pixel then) { return colours.of(now, then); });
    store(group, out, place);
}

// Fills the result with the color of unchanged pixels.
__global__ void __launch_bounds__(threads_per_block) still_kernel(Rows rows, Image out, const Pixel* table) {
    const auto still = __ldg(table);
    Group group;
#pragma unroll
    for (int quarter = 0; quarter < 4; ++quarter) pack(still, still, still, still, group.words + 3 * quarter);
    store(group, out, Place(rows));
}

// Draws the changed pixels. A block takes changes of one frame; blockIdx.y counts frames. The thread with the first
// change of a pixel handles the whole pixel.
__global__ void __launch_bounds__(threads_per_block)
    changes_kernel(ChangedBytes<MemorySpace::device> changes, int first_frame, Image reference, Image out,
                   std::uint32_t width, std::uint32_t pixels, const Pixel* table) {
    const auto frame = first_frame + static_cast<int>(blockIdx.y);
    const auto* positions = changes.positions + frame * changes.capacity;
    const auto* differences = changes.differences + frame * changes.capacity;
    const auto count = min(std::int64_t{changes.counts[frame * changes.count_stride]}, changes.capacity);
    const auto channels = static_cast<std::uint32_t>(reference.channels);
    const auto stride = std::int64_t{gridDim.x} * threads_per_block;
    for (auto index = std::int64_t{blockIdx.x} * threads_per_block + threadIdx.x; index < count; index += stride) {
        const auto pixel = positions[index] / channels;
        if (pixel >= pixels || (index > 0 && positions[index - 1] / channels == pixel)) continue;
        // Find the other changes of the pixel.
        auto end = index + 1;
        while (end < count && end < index + channels && positions[end] / channels == pixel) ++end;
        const auto y = pixel / width, x = pixel % width;
        const auto* now = reference.data + frame * reference.frame_stride + y * reference.row_stride +
                          std::int64_t{x} * reference.channels;
        const auto colour = __ldg(table + heat_of_changes(now, positions, differences, index, end, reference.channels));
        auto* to = out.data + frame * out.frame_stride + y * out.row_stride + std::int64_t{x} * 3;
#pragma unroll
        for (int channel = 0; channel < 3; ++channel)
            to[channel] = static_cast<std::uint8_t>(channel_of(colour, channel));
    }
}

}  // namespace

void Heatmap::run(const FilterImages<MemorySpace::device>& images) const {
    validate(images.in, shape_, "heatmap's image");
    validate(images.previous, shape_, "heatmap's previous image");
    validate(images.out, output_shape(), "heatmap's result");
    const bool dense = images.in.dense() && images.previous.dense() && images.out.dense();
    for_each_launch(shape_, dense, [&](const Rows& rows, dim3 grid) {
        cuda::Launch(executor_->stream(), grid, threads_per_block)(heatmap_kernel, rows, image_of(images.in, dense),
                                                                   image_of(images.previous, dense),
                                                                   image_of(images.out, dense), table_.as<Pixel>());
    });
}

// The launches are ordered by the stream, so the second one overwrites the first one's pixels.
void HeatmapFromChanges::run(const ChangedBytes<MemorySpace::device>& changes, DeviceView<const std::uint8_t> reference,
                             DeviceView<std::uint8_t> out) const {
    validate(reference, shape_, "heatmap's reference");
    validate(out, output_shape(), "heatmap's result");
    const auto& stream = executor_->stream();
    for_each_launch(shape_, out.dense(), [&](const Rows& rows, dim3 grid) {
        cuda::Launch(stream, grid, threads_per_block)(still_kernel, rows, image_of(out, out.dense()),
                                                      table_.as<Pixel>());
    });
    for_changes(shape_, [&](int first_frame, dim3 grid) {
        cuda::Launch(stream, grid, threads_per_block)(
            changes_kernel, changes, first_frame, image_of(reference, false), image_of(out, false),
            static_cast<std::uint32_t>(shape_.width),
            static_cast<std::uint32_t>(std::int64_t{shape_.height} * shape_.width), table_.as<Pixel>());
    });
}

}  // namespace framewire
