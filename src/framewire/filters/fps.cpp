#include "framewire/filters/fps.hpp"

#include <algorithm>
#include <cmath>

namespace framewire {
namespace {

// Longest gap that is filled with repeated frames.
constexpr double longest_wait_s = 3600;
// Times are sums of fractions, so a value this little below a half counts as a half.
constexpr double number_rounding = 1e-6;
// Largest integer up to which a double represents every integer.
constexpr double largest_number = 0x1p53;

}  // namespace

// Clamps the index to the range in which the conversion from double is exact.
std::int64_t FpsSchedule::number_at(double seconds) const {
    const double number = std::floor(seconds * rate_.value() + 0.5 + number_rounding);
    return static_cast<std::int64_t>(std::clamp(number, -largest_number, largest_number));
}

// The current frame is shown from next_ up to the index of the following frame. If that lies too far ahead, the
// schedule jumps to just before it.
std::int64_t FpsSchedule::count_until(double next_seconds) {
    const auto end = number_at(next_seconds);
    const auto count = std::max<std::int64_t>(0, end - next_);
    if (static_cast<double>(count) <= longest_wait_s * rate_.value() + 1) return count;
    next_ = end - 1;
    return 1;
}

FilterInfo fps_info() {
    using Type = ParameterInfo::Type;
    return {
        .name = "fps",
        .summary = "changes the frame rate by dropping or repeating frames",
        .parameters = {{.name = "fps", .help = "frames per second", .type = Type::rate, .default_value = "25"}},
        .examples = {"fps=10", "fps=30000/1001", "deinterlace,fps=12.5,gray"},
        .output_shape = [](const ParameterValues&, const Shape& shape) { return shape; },
        .make = [](const ParameterValues&, const Shape&, Executor&) -> std::unique_ptr<Filter> {
            fail(ErrorCode::usage, "cannot be used here, because it changes the number of frames");
        },
        .rate = [](const ParameterValues& values) { return values.rate("fps"); },
    };
}

}  // namespace framewire
