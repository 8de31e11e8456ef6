#include "framewire/codec/refinement_formulas.hpp"
#include "framewire/core/error.hpp"

#include <algorithm>
#include <cstddef>

// Result of a refinement. On the CUDA backend it arrives in two downloads: first the small SignalledStep, which
// contains the number of changes, and then exactly that many changes.

namespace framewire::codec {

RefinementDelta::OnGpu::OnGpu(const Shape& shape, const Executor& executor)
    : changes(shape),
      signalled(sizeof(SignalledStep)),
      landed(sizeof(SignalledStep), executor.frame_memory()),
      transfer(executor) {}

RefinementDelta::RefinementDelta(const Shape& shape, const Executor& executor) : changes_(shape) {
    if (executor.backend() == Backend::cuda) on_gpu_.emplace(shape, executor);
    clear();
}

void RefinementDelta::clear() {
    signalled_ = {};
    changes_.view().summaries[0] = {};
    if (on_gpu_) on_gpu_->under_way = false;
}

void RefinementDelta::wait() {
    if (!on_gpu_ || !on_gpu_->under_way) return;
    auto& gpu = *on_gpu_;
    gpu.transfer.wait();
    gpu.under_way = false;
    const auto signalled = *gpu.landed.as<SignalledStep>();
    const auto to = changes_.view();
    // The number comes from the device, so check that the copies below fit into the host memory.
    if (std::int64_t{signalled.count} > to.capacity)
        fail(ErrorCode::internal, "a refinement has {} changes, but the frame has {} bytes", signalled.count,
             to.capacity);
    if (signalled.count > 0) {
        const auto from = gpu.changes.view();
        gpu.transfer.down([&](const cuda::Stream& stream) {
            cuda::download(from.positions, to.positions, signalled.count * sizeof(std::uint32_t), stream);
            cuda::download(from.differences, to.differences, signalled.count, stream);
        });
        gpu.transfer.wait();
    }
    // From here on, the other members see the refinement.
    to.summaries[0] = {.count = signalled.count};
    signalled_ = signalled;
}

void RefinementDelta::apply_to(HostView<std::uint8_t> reference) const {
    const auto changes = changes_.view();
    const auto row_bytes = reference.shape().row_bytes();
    for (std::uint32_t i = 0; i < signalled_.count; ++i) {
        const auto position = changes.positions[i];
        auto& byte = reference.row(0, static_cast<int>(position / row_bytes))[position % row_bytes];
        byte = static_cast<std::uint8_t>(byte + changes.differences[i]);
    }
}

void RefinementDelta::add_errors_to(Summary& errors) const {
    errors.max_error = std::max(errors.max_error, signalled_.max_error);
    errors.squared_error += signalled_.squared_error;
}

}  // namespace framewire::codec
