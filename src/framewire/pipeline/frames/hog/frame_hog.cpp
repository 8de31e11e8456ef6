#include "framewire/pipeline/frames/hog/frame_hog.hpp"

#include "framewire/core/error.hpp"

namespace framewire {

FrameDescriptors::FrameDescriptors(const HogShape& shape, Executor& executor)
    : shape_(shape), values_(executor, shape.bytes()), transfer_(executor) {}

FrameHog::~FrameHog() {
    try {
        executor_->synchronize();
    } catch (const Error&) {
        // Whoever waits for the frame hears of it.
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

}  // namespace framewire
