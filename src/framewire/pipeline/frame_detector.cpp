#include "framewire/pipeline/frame_detector.hpp"

#include <utility>

namespace framewire {

FrameDetector::FrameDetector(const DetectorParameters& parameters, const Shape& frame, Executor& executor,
                             std::optional<MaskRegion> region)
    : executor_(&executor),
      region_(std::move(region)),
      detector_(parameters, frame, executor, region_ ? &*region_ : nullptr) {
    if (executor.backend() == Backend::cpu) return;
    device_frame_ = cuda::DeviceImage(frame);
    mask_ = HostBitMask(frame);
}

void FrameDetector::process(HostView<const std::uint8_t> frame) {
    if (executor_->backend() == Backend::cpu) {
        detector_.run(frame);
    } else {
        cuda::upload(frame, device_frame_.view(), executor_->stream());
        detector_.run(std::as_const(device_frame_).view());
    }
    detector_.fetch();
}

std::int64_t FrameDetector::objects_left_out() const {
    return detector_.found() - static_cast<std::int64_t>(detector_.objects().size());
}

void FrameDetector::copy_mask(HostView<std::uint8_t> to) {
    if (executor_->backend() == Backend::cpu) return unpack_mask(detector_.mask_on_host(), to);
    const auto& stream = executor_->stream();
    cuda::download(detector_.mask_on_device().data(), mask_.view().data(), bit_mask_bytes(mask_.shape()), stream);
    stream.synchronize();
    unpack_mask(std::as_const(mask_).view(), to);
}

}  // namespace framewire
