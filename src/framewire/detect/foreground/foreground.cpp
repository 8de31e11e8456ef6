#include "framewire/detect/foreground/foreground.hpp"

#include "framewire/core/error.hpp"

namespace framewire {

Foreground::Foreground(ForegroundParameters parameters, const Shape& frames, Executor& executor)
    : threshold_(parameters.threshold),
      shape_(frames),
      weights_(gaussian_weights(parameters.blur, 0, GaussianRounding::opencv)),
      executor_(&executor),
      gray_({.channels = 1}, frames, executor),
      gaussian_({.size = parameters.blur, .rounding = GaussianRounding::opencv}, frames.with_channels(1), executor) {
    if (threshold_ < 0 || threshold_ > 255)
        fail(ErrorCode::usage, "a threshold of {} between foreground and background; allowed are 0 to 255", threshold_);
    if (executor.backend() == Backend::cpu) {
        if (shape_.frames == 1) made_gray_ = HostImage(gray_shape());
        return;
    }
    if (shape_.channels != 1) device_gray_ = cuda::DeviceImage(gray_shape());
    device_blurred_ = cuda::DeviceImage(gray_shape());
}

}  // namespace framewire
