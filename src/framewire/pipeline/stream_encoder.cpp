#include "framewire/pipeline/stream_encoder.hpp"

#include "framewire/core/error.hpp"

#include <cstring>

namespace framewire {

StreamEncoder::StreamEncoder(const Chain& chain, const delta::EncoderParameters& parameters, const Shape& frame,
                             Executor& executor)
    : executor_(&executor), plan_(chain, frame, executor), encoder_(parameters, plan_.output_shape(), executor),
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
    else
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

void StreamEncoder::encode_on_device(HostView<const std::uint8_t> frame,
                                     const delta::ChangesView<MemorySpace::host>& changes) {
    const auto& stream = executor_->stream();
    cuda::upload(frame, device_frame_.view(), stream);
    DeviceView<const std::uint8_t> filtered = device_frame_.view();
    if (!plan_.empty()) {
        plan_.run(filtered, device_filtered_.view());
        filtered = device_filtered_.view();
    }
    if (!started_) {
        cuda::copy(filtered, device_reference_.view(), stream);
        cuda::download(filtered, first_picture_.view(), stream);
        stream.synchronize();
        return;
    }
    // How many changes there are comes first, so that no more than those travel.
    const auto on_device = device_changes_.view();
    const auto landing = landing_.view();
    encoder_.encode(filtered, device_reference_.view(), on_device);
    cuda::download(on_device.summaries, landing.summaries, sizeof(delta::Summary), stream);
    stream.synchronize();
    const auto summary = changes.summaries[0] = landing.summaries[0];
    if (summary.count > static_cast<std::uint64_t>(changes.capacity))
        fail(ErrorCode::internal, "{} changes in a frame of {} bytes", summary.count, changes.capacity);
    cuda::download(on_device.positions, landing.positions, summary.count * sizeof(std::uint32_t), stream);
    cuda::download(on_device.differences, landing.differences, summary.count, stream);
    stream.synchronize();
    std::memcpy(changes.positions, landing.positions, summary.count * sizeof(std::uint32_t));
    std::memcpy(changes.differences, landing.differences, summary.count);
}

}  // namespace framewire
