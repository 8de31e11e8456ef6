#include "framewire/pipeline/frame_people.hpp"

#include <utility>

namespace framewire {

FramePeople::FramePeople(const WindowModel& model, const PeopleParameters& parameters, const Shape& frame,
                         Executor& executor)
    : executor_(&executor), detector_(model, parameters, frame, executor) {
    if (executor.backend() == Backend::cuda) device_frame_ = cuda::DeviceImage(frame);
}

void FramePeople::process(HostView<const std::uint8_t> frame) {
    if (executor_->backend() == Backend::cpu) {
        detector_.run(frame);
    } else {
        cuda::upload(frame, device_frame_.view(), executor_->stream());
        detector_.run(std::as_const(device_frame_).view());
    }
    detector_.fetch();
}

}  // namespace framewire
