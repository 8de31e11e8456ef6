#include "framewire/filters/adjust/adjust.cuh"
#include "framewire/filters/gray/gray.cuh"
#include "framewire/filters/heatmap/heatmap.cuh"
#include "framewire/filters/noise/noise_pixel.hpp"
#include "framewire/filters/pointwise/pointwise.cuh"
#include "framewire/filters/pointwise/pointwise.hpp"

#include <algorithm>
#include <cstdint>

namespace framewire {
namespace {

using namespace pointwise;
using Kind = PointwiseOp::Kind;

struct Op {
    Kind kind;
    int threshold;
    AdjustOnDevice adjust{AdjustTerms{}};
};

// The whole pass as arguments of its one launch. Channels need no care between ops: a one-channel pixel is three equal
// channels to all of them, and they give three equal ones back.
struct Pass {
    Op ops[PointwisePass::max_ops];
    Image states[PointwisePass::max_states];
    int count;
    bool first, has_states, has_heatmap;
    SplitWeights weighted, average;
    const Pixel* heatmap_table;
};

__global__ void __launch_bounds__(threads_per_block)
    pass_kernel(Rows rows, Image in, Image out, const __grid_constant__ Pass pass) {
    __shared__ HeatmapColours colours;
    const Place place(rows);
    auto group = load(in, place);
    // On its way with the image: after the first ops it would be waited for a second time.
    Group first_before{};
    if (pass.has_states && !pass.first) first_before = load(pass.states[0], place);
    if (pass.has_heatmap) colours.fetch(pass.heatmap_table);
    int state = 0;
    // An op that compares: with what its state held of the pixel before, which then gives way to the pixel now.
    const auto compare = [&](auto&& function) {
        const auto& image = pass.states[state];
        const auto before = pass.first ? group : state == 0 ? first_before : load(image, place);
        ++state;
        store(group, image, place);
        map_pixels(group, before, function);
    };
    for (int index = 0; index < pass.count; ++index) {
        const auto& op = pass.ops[index];
        switch (op.kind) {
            case Kind::gray_weighted:
                map_pixels(group, [&](Pixel pixel) { return gray_pixel(gray_of(pixel, pass.weighted)); });
                break;
            case Kind::gray_average:
                map_pixels(group, [&](Pixel pixel) { return gray_pixel(gray_of(pixel, pass.average)); });
                break;
            case Kind::binarize:
                map_pixels(group, [&](Pixel pixel) {
                    return static_cast<int>(gray_of(pixel, pass.weighted)) > op.threshold ? gray_pixel(255) : 0u;
                });
                break;
            case Kind::adjust: map_pixels(group, [&](Pixel pixel) { return op.adjust(pixel); }); break;
            case Kind::heatmap: compare([&](Pixel now, Pixel before) { return colours.of(now, before); }); break;
            case Kind::noise_mask:
            case Kind::noise_overlay:
                compare([&](Pixel now, Pixel before) {
                    return noise_pixel(now, before, op.threshold, op.kind == Kind::noise_overlay);
                });
                break;
        }
    }
    store(group, out, place);
}

}  // namespace

void PointwisePass::run(DeviceView<const std::uint8_t> in, DeviceView<std::uint8_t> out,
                        std::span<const DeviceView<std::uint8_t>> states, bool first) const {
    validate_images(in, out, states);
    const bool dense = in.dense() && out.dense() &&
                       std::all_of(states.begin(), states.end(), [](const auto& state) { return state.dense(); });
    Pass pass{};
    pass.count = static_cast<int>(ops_.size());
    pass.first = first;
    pass.has_states = !states.empty();
    pass.weighted = split(gray_weights(GrayMethod::weighted));
    pass.average = split(gray_weights(GrayMethod::average));
    pass.heatmap_table = heatmap_table_.as<Pixel>();
    for (std::size_t index = 0; index < ops_.size(); ++index) {
        const auto op = op_now(index);
        pass.ops[index] = {op.kind, op.threshold, AdjustOnDevice(op.adjust)};
        pass.has_heatmap = pass.has_heatmap || op.kind == Kind::heatmap;
    }
    for (std::size_t index = 0; index < states.size() && index < max_states; ++index)
        pass.states[index] = image_of(states[index], dense);
    for_each_launch(shapes_.front(), dense, [&](const Rows& rows, dim3 grid) {
        pass_kernel<<<grid, threads_per_block, 0, executor_->stream().handle()>>>(rows, image_of(in, dense),
                                                                                  image_of(out, dense), pass);
    });
}

}  // namespace framewire
