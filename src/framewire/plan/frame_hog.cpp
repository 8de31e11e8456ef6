#include "framewire/plan/frame_hog.hpp"
#include "framewire/core/error.hpp"
#include "framewire/plan/frame.hpp"

namespace framewire {

FrameDescriptors::FrameDescriptors(const HogShape& shape, Executor& executor)
    : shape_(shape), values_(executor, shape.bytes()), transfer_(executor) {}

FrameHog::~FrameHog() {
    try {
        // Queued work writes to the plan's memory, which is about to be freed.
        executor_->synchronize();
    } catch (const Error&) {
        // The thread that waits for the frame receives the error.
    }
}

void FrameHog::start(Frame& frame, FrameDescriptors& out) {
    executor_->in_its_space([&]<MemorySpace space>() {
        executor_->step("hog", [&] {
            hog_.run(frame.in<space>(),
                     HogView<float, space>(out.values_.in<space>().template as<float>(), out.shape_));
        });
        if constexpr (space == MemorySpace::host) return;
        executor_->step("download", [&] {
            out.transfer_.down([&](const cuda::Stream& stream) {
                cuda::download(out.values_.device().data(), out.values_.host().data(), out.shape_.bytes(), stream);
            });
        });
    });
}

void FrameHog::start(const HostYuv<const std::uint8_t>& picture, FrameDescriptors& out) {
    executor_->step("hog", [&] {
        hog_.run(planes_image_.convert(picture, executor_->pool()),
                 HogView<float, MemorySpace::host>(out.values_.host().as<float>(), out.shape_));
    });
}

}  // namespace framewire
