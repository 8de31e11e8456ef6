#include "framewire/pipeline/stream_encoder.hpp"

#include "framewire/core/error.hpp"

#include <cstring>

namespace framewire {

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
