#include "framewire/pipeline/frames/frame_hog.hpp"

#include "framewire/core/error.hpp"

namespace framewire {

FrameDescriptors::FrameDescriptors(const HogShape& shape, Executor& executor)
    : shape_(shape),
      host_(shape.bytes(), executor.frame_memory()),
      device_(executor.backend() == Backend::cuda ? cuda::DeviceBuffer(shape.bytes()) : cuda::DeviceBuffer()),
      transfer_(executor) {}

FrameHog::~FrameHog() {
    if (executor_->backend() == Backend::cpu) return;
    try {
        executor_->stream().synchronize();
    } catch (const Error&) {
        // Whoever waits for the frame hears of it.
    }
}

void FrameHog::start(Frame& frame, FrameDescriptors& out) {
    executor_->in_its_space([&]<MemorySpace space>() {
        executor_->step("hog", [&] {
            auto* values = space == MemorySpace::host ? out.host_.as<float>() : out.device_.as<float>();
            hog_.run(frame.in<space>(), HogView<float, space>(values, out.shape_));
        });
        if constexpr (space == MemorySpace::host) return;
        executor_->step("download", [&] {
            out.transfer_.down([&](const cuda::Stream& stream) {
                cuda::download(out.device_.data(), out.host_.data(), out.shape_.bytes(), stream);
            });
        });
    });
}

}  // namespace framewire
