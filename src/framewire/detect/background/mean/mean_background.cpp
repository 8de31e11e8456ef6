#include "framewire/detect/background/mean/mean_background.hpp"

#include "framewire/core/error.hpp"

#include <algorithm>
#include <cmath>

namespace framewire {
namespace {

// Converts the rate to units of 1/65536.
std::uint32_t checked_rate(double rate) {
    if (!(rate > 0 && rate <= 1))
        fail(ErrorCode::usage, "the background's mean has rate {}; above 0 up to 1 is allowed", rate);
    return static_cast<std::uint32_t>(std::max(std::lround(rate * (1 << mean_fraction_bits)), 1L));
}

// Rejects images with three channels.
Shape one_gray_frame(const Shape& shape) {
    validate(shape, "the frame of the background's mean");
    if (shape.channels != 1)
        fail(ErrorCode::usage, "the background's mean is of gray frames, not {}", to_string(shape));
    return shape.with_frames(1);
}

}  // namespace

MeanBackground::MeanBackground(double rate, const Shape& shape, Executor& executor)
    : shape_(one_gray_frame(shape)),
      rate_(checked_rate(rate)),
      executor_(&executor),
      means_(static_cast<std::size_t>(shape_.bytes()) * sizeof(std::uint32_t), executor) {
    reset();
}

// Every byte of `no_mean` is 0xFF.
void MeanBackground::reset() { means_.fill(no_mean & 0xFF); }

}  // namespace framewire
