#include "framewire/filters/heatmap.hpp"
#include "framewire/filters/pointwise.cuh"
#include "framewire/filters/pointwise.hpp"
#include "pointwise_filters.inc"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <new>
#include <string_view>
#include <type_traits>

// The filters' CMakeLists.txt defines the headers, names and classes of all pointwise filters.

namespace framewire {
namespace {

using namespace pointwise;
// Names of the filters, in the order of their codes.
constexpr std::string_view code_names[] = {FRAMEWIRE_POINTWISE_NAMES};

// The per-pixel code of one of the pointwise filters: its index, and its settings stored inline.
template <class... Codes>
struct OneOf {
    // Large enough for every code.
    static constexpr std::size_t bytes = std::max({sizeof(Codes)...});
    static_assert((std::is_trivially_copyable_v<Codes> && ...));

    int number;
    alignas(std::max({alignof(Codes)...})) unsigned char code[bytes];

    // Constructs the code with index `number` and takes its settings from an operation.
    static OneOf of(int number, const PointwiseOp& op) {
        OneOf one{.number = number, .code = {}};
        int index = 0;
        ((index++ == number ? void(new (one.code) Codes(op)) : void()), ...);
        return one;
    }

    // Calls function(code) with the code's own type.
    template <class Function>
    __device__ void visit(Function&& function) const {
        int index = 0;
        ((index++ == number ? function(*reinterpret_cast<const Codes*>(code)) : void()), ...);
    }
};

using Op = OneOf<FRAMEWIRE_POINTWISE_CODES>;

// A whole pass as arguments of its single launch. Operations need not distinguish numbers of channels: a one-channel
// pixel is treated as three equal channels, for which they return three equal channels.
struct Pass {
    Op ops[PointwisePass::max_ops];
    Image states[PointwisePass::max_states];
    // Number of operations.
    int count;
    // True if there is no previous frame; if there are states; if the heat map's table is needed.
    bool first, has_states, has_heatmap;
    const Pixel* heatmap_table;
};

// Takes 16 pixels per thread through all operations in registers.
__global__ void __launch_bounds__(threads_per_block)
    pass_kernel(Rows rows, Image in, Image out, const __grid_constant__ Pass pass) {
    __shared__ HeatmapColours colours;
    const Place place(rows);
    auto group = load(in, place);
    // Loaded at the same time as the image; if loaded after the first operations, the thread would have to wait a
    // second time.
    Group first_before{};
    if (pass.has_states && !pass.first) first_before = load(pass.states[0], place);
    if (pass.has_heatmap) colours.fetch(pass.heatmap_table);
    int state = 0;
    // Runs an operation that compares the current pixels with the state's previous ones, then stores the current ones
    // in the state.
    const auto compare = [&](auto&& function) {
        const auto& image = pass.states[state];
        const auto before = pass.first ? group : state == 0 ? first_before : load(image, place);
        ++state;
        store(group, image, place);
        map_pixels(group, before, function);
    };
    for (int index = 0; index < pass.count; ++index)
        pass.ops[index].visit([&](const auto& code) {
            using Code = std::remove_cvref_t<decltype(code)>;
            if constexpr (std::is_invocable_v<const Code&, Pixel>)
                map_pixels(group, [&](Pixel pixel) { return code(pixel); });
            else if constexpr (std::is_invocable_v<const Code&, Pixel, Pixel>)
                compare([&](Pixel now, Pixel before) { return code(now, before); });
            else
                compare([&](Pixel now, Pixel before) { return code(now, before, colours); });
        });
    store(group, out, place);
}

}  // namespace

// Returns the position of the filter's code in FRAMEWIRE_POINTWISE_CODES.
int PointwisePass::number_on_device(std::string_view filter) {
    const auto* name = std::find(std::begin(code_names), std::end(code_names), filter);
    return name == std::end(code_names) ? -1 : static_cast<int>(name - code_names);
}

// Copies operations, states and settings into the kernel's arguments.
void PointwisePass::run_on_device(const FilterImages<MemorySpace::device>& images) {
    const auto in = images.in;
    const auto out = images.out;
    validate(in, shapes_.front(), "the pass's image");
    validate(out, shapes_.back(), "the pass's result");
    const bool dense = in.dense() && out.dense();
    Pass pass{};
    pass.count = static_cast<int>(ops_.size());
    pass.first = !has_previous_;
    pass.has_states = !states_.empty();
    pass.heatmap_table = heatmap_table_.as<Pixel>();
    for (std::size_t index = 0; index < ops_.size(); ++index) {
        const auto op = op_now(index);
        pass.ops[index] = Op::of(device_numbers_[index], op);
        pass.has_heatmap = pass.has_heatmap || op.filter == "heatmap";
    }
    for (std::size_t index = 0; index < states_.size() && index < max_states; ++index)
        pass.states[index] = image_of(states_[index].view<MemorySpace::device>(), dense);
    for_each_launch(shapes_.front(), dense, [&](const Rows& rows, dim3 grid) {
        cuda::Launch(executor_->stream(), grid, threads_per_block)(pass_kernel, rows, image_of(in, dense),
                                                                   image_of(out, dense), pass);
    });
    has_previous_ = true;
}

}  // namespace framewire
