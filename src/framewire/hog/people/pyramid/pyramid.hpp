#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/filters/gray/gray.hpp"
#include "framewire/hog/people/pyramid/pyramid_sample.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace framewire {

inline constexpr double least_pyramid_scale = 0.25, most_pyramid_scale = 1024;

/// One gray image at several sizes. A level of scale s is as many whole pixels as the frame has s of, each side, and
/// the centre of its pixel x lies at (x + 0.5) s - 0.5 of the frame. First there are octaves: the gray frame, and from
/// each one the next, of half its sides rounded down, by means of 2x2 pixels, rounded to nearest, half up. A level
/// comes from the octave of the largest power of two not above s, by bilinear interpolation with weights in 1/128, so
/// that no pixel is left out between two samples. All in integers: the same bytes everywhere. For one run at a time.
class GrayPyramid {
public:
    /// `frame`: one, 1 or 3 channels. `scales`: frame pixels a level's pixel, least_pyramid_scale to
    /// most_pyramid_scale. Throws Error{usage} on other ones, on more frames, and on a level without a pixel.
    GrayPyramid(std::span<const double> scales, const Shape& frame, Executor& executor);

    int levels() const { return static_cast<int>(levels_.size()); }
    Shape level_shape(int level) const;

    /// Any strides. On the executor's threads; returns when done.
    void run(HostView<const std::uint8_t> frame);
    /// Queued on the executor's stream: run_octaves(), and run_level() of every level.
    void run(DeviceView<const std::uint8_t> frame);
    /// The parts of a run that levels have in common, and each one's own. Those do not depend on each other, nor on
    /// where the frame lies, so that a graph may have them.
    void run_octaves(DeviceView<const std::uint8_t> frame);
    void run_level(int number);

    /// A level of the last run, one channel, until the next one; in the memory space of the backend.
    template <MemorySpace space>
    View<const std::uint8_t, space> level(int number) const {
        return view<space>(memory_.data(), levels_.at(static_cast<std::size_t>(number)).plane);
    }

private:
    // An image in the one buffer of all.
    struct Plane {
        int width, height;
        std::int64_t row_stride_bytes, offset_bytes;
    };
    struct Level {
        Plane plane;
        int octave;
        std::int64_t step;  // as pyramid_sample() has it; of one pixel: the level is the octave
        // On the CPU: of a row's pixels, and of as many more as a vector has.
        std::vector<std::int32_t> indices, shares;
    };

    // Of an image in the memory of either space.
    template <MemorySpace space>
    View<std::uint8_t, space> view(std::uint8_t* memory, const Plane& plane) const {
        return {memory + plane.offset_bytes,
                {1, plane.height, plane.width, 1},
                plane.row_stride_bytes,
                plane.row_stride_bytes * plane.height};
    }

    Shape shape_;
    Executor* executor_;
    std::vector<Plane> octaves_;
    std::vector<Level> levels_;
    Gray gray_;
    BackendBuffer memory_;
};

}  // namespace framewire
