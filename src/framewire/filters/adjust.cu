#include "framewire/filters/adjust.hpp"
#include "framewire/filters/pointwise.cuh"

namespace framewire {
namespace {

using namespace pointwise;

__global__ void __launch_bounds__(threads_per_block)
    adjust_kernel(Rows rows, Image in, Image out, AdjustOnDevice adjust) {
    const Place place(rows);
    auto group = load(in, place);
    map_pixels(group, [&](Pixel pixel) { return adjust(pixel); });
    store(group, out, place);
}

}  // namespace

// Reads the terms once, so that a change by another thread takes effect with the next batch.
void Adjust::run(const FilterImages<MemorySpace::device>& images) const {
    validate(images.in, shape_, "adjust's image");
    validate(images.out, output_shape(), "adjust's result");
    const bool dense = images.in.dense() && images.out.dense();
    const AdjustOnDevice adjust(terms_.load());  // one setting for the whole batch
    for_each_launch(shape_, dense, [&](const Rows& rows, dim3 grid) {
        cuda::Launch(executor_->stream(), grid, threads_per_block)(adjust_kernel, rows, image_of(images.in, dense),
                                                                   image_of(images.out, dense), adjust);
    });
}

}  // namespace framewire
