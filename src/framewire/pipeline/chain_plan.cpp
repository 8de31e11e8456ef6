#include "framewire/pipeline/chain_plan.hpp"

#include "framewire/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace framewire {
namespace {

// Calls make(); what it says against the filter's input is said with the place in the chain.
template <class Make>
auto with_place(const Chain& chain, const FilterCall& call, Make&& make) {
    try {
        return make();
    } catch (const Error& error) {
        if (error.code() != ErrorCode::usage) throw;
        fail_in_chain(chain.text, call.offset, fmt::format("filter '{}': {}", call.filter->name, error.what()));
    }
}

}  // namespace

ChainPlan::Memory::Memory(std::int64_t bytes, const Executor& executor) {
    if (executor.backend() == Backend::cuda)
        device_ = cuda::DeviceBuffer(static_cast<std::size_t>(bytes));
    else
        host_ = HostBuffer(static_cast<std::size_t>(bytes));
}

ChainPlan::ChainPlan(const Chain& chain, const Shape& frame, Executor& executor)
    : executor_(&executor), input_shape_(frame), output_shape_(frame) {
    validate(frame, "the chain's image");
    // All shapes before the first allocation: a chain that does not fit together costs nothing.
    for (const auto& call : chain.calls) {
        Step step;
        step.input = output_shape_;
        step.output = with_place(chain, call, [&] { return call.filter->output_shape(call.values, step.input); });
        step.needs_previous = call.filter->needs_previous;
        output_shape_ = step.output;
        steps_.push_back(std::move(step));
    }
    std::array<std::int64_t, 2> largest_bytes{};
    for (std::size_t index = 0; index < steps_.size(); ++index) {
        const auto& call = chain.calls[index];
        auto& step = steps_[index];
        step.filter = with_place(chain, call, [&] { return call.filter->make(call.values, step.input, executor); });
        if (step.needs_previous) step.previous = Memory(step.input.bytes(), executor);
        if (index + 1 < steps_.size())
            largest_bytes[index % 2] = std::max(largest_bytes[index % 2], step.output.bytes());
    }
    for (std::size_t turn = 0; turn < between_.size(); ++turn)
        if (largest_bytes[turn] > 0) between_[turn] = Memory(largest_bytes[turn], executor);
}

void ChainPlan::run(HostView<const std::uint8_t> in, HostView<std::uint8_t> out) {
    if (executor_->backend() != Backend::cpu) fail(ErrorCode::internal, "a host image for a chain planned on a GPU");
    run_in(in, out);
}

void ChainPlan::run(DeviceView<const std::uint8_t> in, DeviceView<std::uint8_t> out) {
    if (executor_->backend() != Backend::cuda)
        fail(ErrorCode::internal, "a device image for a chain planned on the CPU");
    run_in(in, out);
}

template <MemorySpace space>
void ChainPlan::run_in(View<const std::uint8_t, space> in, View<std::uint8_t, space> out) {
    validate(in, input_shape_, "the chain's input");
    validate(out, output_shape_, "the chain's output");
    if (empty()) return copy_image(in, out);
    auto from = in;
    for (std::size_t index = 0; index < steps_.size(); ++index) {
        auto& step = steps_[index];
        const bool last = index + 1 == steps_.size();
        const auto to = last ? out : View<std::uint8_t, space>(between_[index % 2].data(), step.output);
        FilterImages<space> images{from, {}, to};
        const View<std::uint8_t, space> previous(step.previous.data(), step.input);
        if (step.needs_previous) images.previous = step.has_previous ? previous : from;
        step.filter->run(images);
        if (step.needs_previous) {
            copy_image(from, previous);
            step.has_previous = true;
        }
        from = to;
    }
}

void ChainPlan::copy_image(HostView<const std::uint8_t> from, HostView<std::uint8_t> to) const { copy(from, to); }

void ChainPlan::copy_image(DeviceView<const std::uint8_t> from, DeviceView<std::uint8_t> to) const {
    cuda::copy(from, to, executor_->stream());
}

}  // namespace framewire
