#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/filters/gray.hpp"

#include <cstdint>
#include <span>
#include <vector>

// Arithmetic of the pyramid, shared by the CPU and CUDA.

namespace framewire {

/// Fractional bits of PyramidSample::share.
inline constexpr int pyramid_share_bits = 7;
/// The value of PyramidSample::share that represents 1.
inline constexpr std::int32_t pyramid_share_one = 1 << pyramid_share_bits;
/// Unit of a step: one pixel of the octave.
inline constexpr std::int64_t pyramid_pixel = 1 << 16;

/// Position of a level's pixel in a row or column of its octave: between pixel `index` and the next pixel, which has
/// the weight `share` / pyramid_share_one. At the last pixel the share is 0.
struct PyramidSample {
    std::int32_t index, share;
};

/// Returns the position of pixel `i`. `step` is the distance of two level pixels in 1/65536 of the octave's pixels; the
/// octave has `pixels` pixels. Positions beyond the centre of the first or last pixel are clamped to it.
FRAMEWIRE_HOST_DEVICE constexpr PyramidSample pyramid_sample(std::int64_t i, std::int64_t step, std::int64_t pixels) {
    constexpr int rest_bits = 16 - pyramid_share_bits;
    auto place = (((2 * i + 1) * step - pyramid_pixel) >> 1) + (1 << (rest_bits - 1));
    const auto last = (pixels - 1) * pyramid_pixel;
    place = place < 0 ? 0 : place > last ? last : place;
    return {static_cast<std::int32_t>(place / pyramid_pixel),
            static_cast<std::int32_t>(place % pyramid_pixel >> rest_bits)};
}

/// Interpolates between two values; the result is scaled by pyramid_share_one.
FRAMEWIRE_HOST_DEVICE constexpr std::int32_t pyramid_blend(std::int32_t a, std::int32_t b, std::int32_t share) {
    return a * (pyramid_share_one - share) + b * share;
}

/// Interpolates between two results of pyramid_blend() and rounds half up.
FRAMEWIRE_HOST_DEVICE constexpr std::uint8_t pyramid_value(std::int32_t a, std::int32_t b, std::int32_t share) {
    return static_cast<std::uint8_t>((pyramid_blend(a, b, share) + (1 << (2 * pyramid_share_bits - 1))) >>
                                     (2 * pyramid_share_bits));
}

inline constexpr double least_pyramid_scale = 0.25,  ///< smallest scale of a level
    most_pyramid_scale = 1024;                       ///< largest scale of a level

/// One image at several sizes: gray, or its planes of blue, green and red. A level of scale s has floor(side / s)
/// pixels per side, and the centre of its pixel x is at (x + 0.5) s - 0.5 in the frame. Octaves are computed first: the
/// frame's planes, then images that each have half the size of the previous one, rounded down, as means of 2x2 pixels,
/// rounded half up. A level is interpolated bilinearly, with weights in 1/128, from the octave of the largest power of
/// two that does not exceed s, so that no pixel between two samples is skipped. Integer arithmetic gives the same bytes
/// on every backend. One run at a time.
class ImagePyramid {
public:
    /// Prepares the pyramid. `frame` is the shape of one frame with 1 or 3 channels. `scales` are frame pixels per
    /// level pixel, from least_pyramid_scale to most_pyramid_scale. Throws Error{usage} if a scale or the frame is not
    /// allowed, or if a level would have no pixel. `planes` is 1 for gray, or 3, which requires 3 channels.
    ImagePyramid(std::span<const double> scales, const Shape& frame, Executor& executor, int planes = 1);

    /// Returns the number of levels, one per scale.
    int levels() const { return static_cast<int>(levels_.size()); }
    /// Returns the shape of a level: one frame of one channel for each plane.
    Shape level_shape(int level) const;

    /// Processes a frame, which may have any strides, on the executor's threads and returns when done.
    void run(HostView<const std::uint8_t> frame);
    /// Queues run_octaves() and then run_level() for every level on the executor's stream.
    void run(DeviceView<const std::uint8_t> frame);
    /// Queues the first part of a run: the octaves, which all levels share. run_level() queues the second part. It
    /// depends neither on other levels nor on the address of the frame, so it can be recorded in a graph.
    void run_octaves(DeviceView<const std::uint8_t> frame);
    /// Queues the computation of one level from its octave; see run_octaves().
    void run_level(int number);

    /// Returns a level of the last run, with one channel, in the memory space of the backend. Valid until the next run.
    template <MemorySpace space>
    View<const std::uint8_t, space> level(int number) const {
        return view<space>(memory_.data(), levels_.at(static_cast<std::size_t>(number)).plane);
    }

private:
    // The planes of an image within the common buffer, one after another.
    struct Plane {
        int width, height;
        std::int64_t row_stride_bytes, offset_bytes;
    };
    // A level: its image, the octave that it is computed from, and its step in that octave.
    struct Level {
        Plane plane;
        int octave;
        std::int64_t step;  // step for pyramid_sample(); if it is one pixel, the level is the octave
        // CPU only: the positions of a row's pixels, and of one more vector.
        std::vector<std::int32_t> indices, shares;
    };

    // Returns the view of a plane in memory of either space.
    template <MemorySpace space>
    View<std::uint8_t, space> view(std::uint8_t* memory, const Plane& plane) const {
        return {memory + plane.offset_bytes,
                {planes_, plane.height, plane.width, 1},
                plane.row_stride_bytes,
                plane.row_stride_bytes * plane.height};
    }

    Shape shape_;
    int planes_;
    Executor* executor_;
    std::vector<Plane> octaves_;
    std::vector<Level> levels_;
    Gray gray_;
    BackendBuffer memory_;
};

}  // namespace framewire
