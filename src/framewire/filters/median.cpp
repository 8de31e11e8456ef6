#include "framewire/filters/median.hpp"
#include "framewire/core/parameter_fields.hpp"

#include <algorithm>
#include <atomic>

// The registry entry of `median`, and the constructor, which lets each backend make its plan.

namespace framewire {
namespace {

const ParameterFields<MedianParameters>& median_fields() {
    using P = MedianParameters;
    static const ParameterFields<P> fields = {
        parameter_field(&P::size, {.name = "size",
                                   .help = "side of the square around each pixel, in pixels",
                                   .minimum = 1,
                                   .maximum = max_median_size,
                                   .odd_only = true}),
        parameter_field(&P::border, border_names, border_parameter()),
    };
    return fields;
}

}  // namespace

Median::Median(MedianParameters parameters, const Shape& shape, Executor& executor)
    : parameters_(parameters), shape_(shape), executor_(&executor) {
    validate(shape, "median's image");
    median_fields().check(parameters, "median");
    if (executor.backend() == Backend::cpu)
        plan_for_cpu();
    else if constexpr (cuda::compiled)
        plan_for_cuda();
}

FilterInfo median_info() {
    return {
        .name = "median",
        .summary = "median of each pixel's neighbourhood: removes noise, keeps edges",
        .parameters = median_fields().infos(),
        .examples = {"median=5", "median=3:border=replicate"},
        .output_shape = [](const ParameterValues&, const Shape& shape) { return shape; },
        .make = [](const ParameterValues& values, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
            return std::make_unique<FilterOf<Median>>(median_fields().from(values), shape, executor);
        },
    };
}

}  // namespace framewire

// Divides a batch into blocks and runs the method for the size on each. The methods are in median_networks.cpp and
// median_histogram.cpp.

namespace framewire {
namespace {

// Returns how the method for a size divides images into blocks.
MedianBlocking blocking_of(int size, const Shape& shape, int threads) {
    if (size <= largest_small_median) return {.width = shape.width, .height = 32};
    if (size > largest_middle_median) return histogram_blocking(size, shape, threads);
    return {.width = MiddleBlock::output_bytes / shape.channels,
            .height = MiddleBlock::height,
            .scratch_bytes = MiddleBlock::scratch_bytes};
}

}  // namespace

// The division into blocks, and their scratch memory.
struct Median::CpuPlan {
    CpuPlan(int size, const Shape& shape, int threads)
        : blocking(blocking_of(size, shape, threads)),
          scratch(static_cast<std::size_t>(threads * blocking.scratch_bytes)) {}

    MedianBlocking blocking;
    HostBuffer scratch;  // one part per thread
};

void Median::CpuPlanDeleter::operator()(CpuPlan* plan) const { delete plan; }

void Median::plan_for_cpu() { cpu_plan_.reset(new CpuPlan(parameters_.size, shape_, executor_->pool().threads())); }

// Threads take blocks from a shared counter, so that a slow block does not hold up the others.
void Median::run(const FilterImages<MemorySpace::host>& images) {
    validate(images.in, shape_, "median's image");
    validate(images.out, shape_, "median's result");
    const int size = parameters_.size;
    const auto border = parameters_.border;
    if (size == 1) return copy(images.in, images.out);

    const auto& blocking = cpu_plan_->blocking;
    const auto parts = [](int whole, int each) { return std::int64_t{(whole + each - 1) / each}; };
    const auto columns = parts(shape_.width, blocking.width), rows = parts(shape_.height, blocking.height);
    const auto channels = blocking.channel_by_channel ? shape_.channels : 1;
    const auto blocks = columns * channels * rows * shape_.frames;

    // Each worker keeps its part of the scratch memory and takes the next block when it has finished one.
    std::atomic<std::int64_t> next = 0;
    const auto work = [&](std::int64_t worker, std::int64_t, std::int64_t) {
        auto* scratch = cpu_plan_->scratch.data() + worker * blocking.scratch_bytes;
        for (auto index = next++; index < blocks; index = next++) {
            MedianBlock block{.in = images.in, .out = images.out};
            block.x = static_cast<int>(index % columns) * blocking.width;
            block.channel = static_cast<int>(index / columns % channels);
            block.y = static_cast<int>(index / columns / channels % rows) * blocking.height;
            block.frame = static_cast<int>(index / columns / channels / rows);
            block.width = std::min(blocking.width, shape_.width - block.x);
            block.height = std::min(blocking.height, shape_.height - block.y);
            if (size <= largest_small_median)
                small_median(block, size, border);
            else if (size <= largest_middle_median)
                middle_median(block, size, border, scratch);
            else
                histogram_median(block, size, border, scratch);
        }
    };
    executor_->pool().for_chunks(executor_->pool().threads(), 1, work);
}

}  // namespace framewire
