#include "framewire/hog/people/pyramid/pyramid.hpp"

#include "framewire/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace framewire {
namespace {

// Room after each row for what whole vectors read and write past its pixels.
constexpr int vector_px = 64;
constexpr std::int64_t padded_row_bytes(int width) { return (std::int64_t{width} + vector_px + 63) / 64 * 64; }

// Returns the octave of the largest power of two that is not above `scale`.
int octave_of(double scale) {
    int octave = 0;
    while (std::ldexp(2.0, octave) <= scale) ++octave;
    return octave;
}

// Rejects scales whose level would be empty or too large.
void check(std::span<const double> scales, const Shape& frame) {
    validate(frame, "the pyramid's frame");
    if (frame.frames != 1) fail(ErrorCode::usage, "{} frames for a pyramid; it takes one", frame.frames);
    for (const double scale : scales) {
        if (!(scale >= least_pyramid_scale && scale <= most_pyramid_scale))
            fail(ErrorCode::usage, "a pyramid's level of scale {}; allowed are {} to {}", scale, least_pyramid_scale,
                 most_pyramid_scale);
        if (scale > std::min(frame.width, frame.height))
            fail(ErrorCode::usage, "a pyramid's level of scale {} has no pixel of a frame of {}", scale,
                 to_string(frame));
        if (std::max(frame.width, frame.height) / scale > max_side_px)
            fail(ErrorCode::usage, "a pyramid's level of scale {} of a frame of {} has sides above {} pixels", scale,
                 to_string(frame), max_side_px);
    }
}

}  // namespace

// All octaves and levels share one buffer. Levels whose scale is a power of two are octaves and need no memory
// of their own.
GrayPyramid::GrayPyramid(std::span<const double> scales, const Shape& frame, Executor& executor)
    : shape_((check(scales, frame), frame)), executor_(&executor), gray_({.channels = 1}, frame, executor) {
    std::int64_t bytes = 0;
    const auto add_plane = [&](int width, int height) {
        const Plane plane{width, height, padded_row_bytes(width), bytes};
        bytes += plane.row_stride_bytes * height;
        return plane;
    };
    int octaves = 1;
    for (const double scale : scales) octaves = std::max(octaves, octave_of(scale) + 1);
    for (int octave = 0; octave < octaves; ++octave)
        octaves_.push_back(add_plane(frame.width >> octave, frame.height >> octave));
    for (const double scale : scales) {
        const int octave = octave_of(scale);
        const auto step = std::llround(std::ldexp(scale, -octave) * static_cast<double>(pyramid_pixel));
        const auto side = [&](int pixels) { return static_cast<int>(pixels / scale); };
        Level level{octaves_[static_cast<std::size_t>(octave)], octave, step, {}, {}};
        if (step != pyramid_pixel) {
            const int octave_width = level.plane.width;
            level.plane = add_plane(side(frame.width), side(frame.height));
            if (executor.backend() == Backend::cpu)
                for (int x = 0; x < level.plane.width + vector_px; ++x) {
                    const auto sample = pyramid_sample(x, step, octave_width);
                    level.indices.push_back(sample.index);
                    level.shares.push_back(sample.share);
                }
        }
        levels_.push_back(std::move(level));
    }
    memory_ = BackendBuffer(static_cast<std::size_t>(bytes), executor);
    memory_.fill(0);  // a row's last pixel is interpolated with the one after it, with a share of 0
}

Shape GrayPyramid::level_shape(int level) const {
    const auto& plane = levels_.at(static_cast<std::size_t>(level)).plane;
    return {1, plane.height, plane.width, 1};
}

}  // namespace framewire
