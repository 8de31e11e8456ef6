#include "framewire/pipeline/frame_hog.hpp"

#include "framewire/cuda/build.hpp"

#include <utility>

namespace framewire {

FrameHog::FrameHog(const HogParameters& parameters, const Shape& frame, Executor& executor)
    : executor_(&executor), hog_(parameters, frame, executor) {
    if (executor.backend() == Backend::cpu) return;
    device_frame_ = cuda::DeviceImage(frame);
    device_out_ = cuda::DeviceBuffer(output_shape().bytes());
}

void FrameHog::process(HostView<const std::uint8_t> frame, HogView<float, MemorySpace::host> out) {
    if (executor_->backend() == Backend::cpu) return hog_.run(frame, out);
    if constexpr (cuda::compiled) {
        const auto& stream = executor_->stream();
        cuda::upload(frame, device_frame_.view(), stream);
        hog_.run(std::as_const(device_frame_).view(),
                 HogView<float, MemorySpace::device>(device_out_.as<float>(), output_shape()));
        cuda::download(device_out_.data(), out.data(), output_shape().bytes(), stream);
        stream.synchronize();
    }
}

}  // namespace framewire
