#include "framewire/pipeline/frame_processor.hpp"

namespace framewire {

FrameProcessor::FrameProcessor(const Chain& chain, const Shape& frame, Executor& executor)
    : executor_(&executor), plan_(chain, frame, executor) {
    if (executor.backend() == Backend::cpu || empty()) return;
    device_in_ = cuda::DeviceImage(frame);
    device_out_ = cuda::DeviceImage(plan_.output_shape());
}

void FrameProcessor::process(HostView<const std::uint8_t> in, HostView<std::uint8_t> out) {
    if (empty()) return copy(in, out);
    if (executor_->backend() == Backend::cpu) return plan_.run(in, out);
    const auto& stream = executor_->stream();
    cuda::upload(in, device_in_.view(), stream);
    plan_.run(device_in_.view(), device_out_.view());
    cuda::download(device_out_.view(), out, stream);
    stream.synchronize();
}

}  // namespace framewire
