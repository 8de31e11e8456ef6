#include "framewire/filters/heatmap/heatmap.cuh"
#include "framewire/filters/pointwise/pointwise.cuh"

namespace framewire {
namespace {

using namespace pointwise;

__global__ void __launch_bounds__(threads_per_block)
    heatmap_kernel(Rows rows, Image in, Image previous, Image out, const Pixel* table) {
    __shared__ HeatmapColours colours;
    const Place place(rows);
    // The frames' loads are under way while the table comes.
    auto group = load(in, place);
    const auto before = load(previous, place);
    colours.fetch(table);
    map_pixels(group, before, [&](Pixel now, Pixel then) { return colours.of(now, then); });
    store(group, out, place);
}

}  // namespace

void Heatmap::run(const FilterImages<MemorySpace::device>& images) const {
    validate(images.in, shape_, "heatmap's image");
    validate(images.previous, shape_, "heatmap's previous image");
    validate(images.out, output_shape(), "heatmap's result");
    const bool dense = images.in.dense() && images.previous.dense() && images.out.dense();
    for_each_launch(shape_, dense, [&](const Rows& rows, dim3 grid) {
        heatmap_kernel<<<grid, threads_per_block, 0, executor_->stream().handle()>>>(
            rows, image_of(images.in, dense), image_of(images.previous, dense), image_of(images.out, dense),
            table_.as<Pixel>());
    });
}

}  // namespace framewire
