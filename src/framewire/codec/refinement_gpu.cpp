#include "framewire/codec/refinement_gpu.hpp"
#include "framewire/codec/refinement.hpp"
#include "framewire/core/error.hpp"

#include <cstddef>
#include <utility>

// Refinement on the GPU. refine() queues five steps and waits for none of them:
//
//     look_at_cells   updates the state of each cell, counts the bytes that are off
//     choose_cells    decides which cells are refined
//     aim_cells       writes them into a copy of R, the target
//     Encoder         lists the differences between the target and R, updates R
//     download        copies the SignalledStep to the host, on a separate stream

namespace framewire::codec {
namespace {

template <class T>
cuda::DeviceBuffer zeros(std::size_t count, const Executor& executor) {
    cuda::DeviceBuffer buffer(count * sizeof(T));
    cuda::fill(buffer.data(), 0, buffer.bytes(), executor.stream());
    return buffer;
}

std::size_t cells_of(const Shape& shape) { return static_cast<std::size_t>(CellGrid(shape).count()); }

}  // namespace

RefinementOnGpu::RefinementOnGpu(const Shape& shape, Executor& executor)
    : shape_(shape),
      executor_(&executor),
      encoder_({Mode::exact, 0}, shape, executor),
      target_(shape),
      account_(zeros<RestAccount>(1, executor)),
      new_picture_(zeros<std::uint32_t>(1, executor)),
      cells_(zeros<RestingCell>(cells_of(shape), executor)),
      changed_(zeros<std::uint32_t>(cells_of(shape), executor)),
      off_(zeros<std::uint32_t>(cells_of(shape) * rest_stages, executor)),
      sums_(zeros<std::uint16_t>(
          cells_of(shape) * static_cast<std::size_t>(CellGrid::side * CellGrid::side * shape.channels), executor)),
      samples_(zeros<std::uint8_t>(cells_of(shape), executor)),
      chosen_(zeros<std::uint8_t>(cells_of(shape), executor)) {}

RefinementMemory RefinementOnGpu::memory() const {
    return {account_.as<RestAccount>(),
            new_picture_.as<std::uint32_t>(),
            cells_.as<RestingCell>(),
            changed_.as<std::uint32_t>(),
            off_.as<std::uint32_t>(),
            sums_.as<std::uint16_t>(),
            samples_.data(),
            chosen_.data()};
}

void RefinementOnGpu::take_step(const ChangesView<MemorySpace::device>& changes) {
    count_changes(changes, shape_, memory(), executor_->stream());
}

void RefinementOnGpu::take_blocks(const std::uint32_t* off) {
    spread_blocks(off, shape_, memory(), executor_->stream());
}

void RefinementOnGpu::refine(DeviceView<const std::uint8_t> camera, DeviceView<std::uint8_t> reference,
                             const RefinementTurn& turn, RefinementDelta& step) {
    if (!step.on_gpu_) fail(ErrorCode::usage, "the picture is on the GPU, but the delta frame is on the host");
    auto& to = *step.on_gpu_;
    const auto& stream = executor_->stream();
    auto* const signalled = to.signalled.as<SignalledStep>();
    look_at_cells(camera, std::as_const(reference), turn, memory(), stream);
    choose_cells(shape_, turn, memory(), signalled, stream);
    // The target is R with the refined cells. The encoder with threshold 0 lists the differences from R and updates R.
    const auto target = target_.view();
    cuda::copy(std::as_const(reference), target, stream);
    aim_cells(camera, target, turn, memory(), signalled, stream);
    encoder_.encode(std::as_const(target), reference, to.changes.view(), 0);
    to.transfer.down(
        [&](const cuda::Stream& down) { cuda::download(signalled, to.landed.data(), sizeof(SignalledStep), down); });
    to.under_way = true;
}

void Refiner::take_step(const ChangesView<MemorySpace::device>& changes) { state_->on_gpu->take_step(changes); }
void Refiner::take_blocks(const std::uint32_t* off) { state_->on_gpu->take_blocks(off); }
void Refiner::refine(DeviceView<const std::uint8_t> camera, DeviceView<std::uint8_t> reference, const Moment& moment,
                     RefinementDelta& step) {
    const auto turn = state_->begin(camera, reference, moment, step);
    state_->on_gpu->refine(camera, reference, turn, step);
}

}  // namespace framewire::codec
