#include "framewire/pipeline/stream_encoder.hpp"

#include "framewire/core/error.hpp"
#include "framewire/cuda/build.hpp"

namespace framewire {

StreamEncoder::StreamEncoder(const Chain& chain, const delta::EncoderParameters& parameters, const Shape& frame,
                             Executor& executor)
    : executor_(&executor),
      plan_(chain, frame, executor),
      encoder_(parameters, plan_.output_shape(), executor),
      first_picture_(plan_.output_shape(), executor.frame_memory()) {
    if (frame.frames != 1) fail(ErrorCode::usage, "a stream of {} frames at a time; it takes one", frame.frames);
    if (executor.backend() == Backend::cpu) {
        if (!plan_.empty()) filtered_ = HostImage(shape());
        reference_ = HostImage(shape());
    } else {
        device_frame_ = cuda::DeviceImage(frame);
        if (!plan_.empty()) device_filtered_ = cuda::DeviceImage(shape());
        device_reference_ = cuda::DeviceImage(shape());
        device_changes_ = delta::DeviceChanges(shape());
        landing_ = delta::HostChanges(shape(), cuda::pinned_memory());
    }
}

bool StreamEncoder::encode(HostView<const std::uint8_t> frame, const delta::ChangesView<MemorySpace::host>& changes) {
    validate(frame, plan_.input_shape(), "the frame to encode");
    const bool first = !started_;
    if (first) changes.summaries[0] = {};
    if (executor_->backend() == Backend::cpu)
        encode_on_host(frame, changes);
    else if constexpr (cuda::compiled)
        encode_on_device(frame, changes);
    started_ = true;
    return first;
}

void StreamEncoder::encode_on_host(HostView<const std::uint8_t> frame,
                                   const delta::ChangesView<MemorySpace::host>& changes) {
    if (!plan_.empty()) {
        plan_.run(frame, filtered_.view());
        frame = filtered_.view();
    }
    if (started_) {
        encoder_.encode(frame, reference_.view(), changes);
    } else {
        copy(frame, reference_.view());
        copy(frame, first_picture_.view());
    }
}

}  // namespace framewire
