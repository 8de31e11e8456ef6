#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/host_device.hpp"
#include "framewire/filters/filter.hpp"

#include <cmath>
#include <cstdint>

namespace framewire {

/// Parameters of Sauvola.
struct SauvolaParameters {
    int window = 25;  ///< side of the window; odd, 3..max_sauvola_window
    double k = 0.2;   ///< weight of the contrast, 0..1; larger leaves less black where contrast is low
};

/// Largest window of Sauvola, in pixels.
inline constexpr int max_sauvola_window = 255;

/// Black and white with a threshold per pixel, for documents on uneven paper (Sauvola and Pietikainen, "Adaptive
/// document image binarization", 2000). A pixel is white if gray > mean * (1 + k * (deviation / 128 - 1)), with the
/// mean and the standard deviation of the window around it, cut off at the image's edges. Running sums make the cost
/// independent of the window.
///
/// `in` and `out`: any strides and alignment, no overlap; as many channels as the image. One run at a time per plan.
class Sauvola {
public:
    /// Throws Error{usage} on a shape, window or k that is not allowed.
    Sauvola(SauvolaParameters parameters, const Shape& shape, Executor& executor);

    /// Shape of the result: that of the image.
    Shape output_shape() const { return shape_; }

    /// On the executor's threads; returns when done.
    void run(const FilterImages<MemorySpace::host>& images);
    /// Queued on the executor's stream as one launch.
    void run(const FilterImages<MemorySpace::device>& images) const;

private:
    FilterOnDevice plan_for_cuda() const;

    SauvolaParameters parameters_;
    Shape shape_;
    Executor* executor_;
    FilterOnDevice on_device_;
    int band_rows_;           // CPU: rows per chunk of work
    HostBuffer gray_, sums_;  // CPU: one frame's gray values if it is BGR; running sums of each band
};

/// Sums over a window as both backends keep them: of value - 128, so that the squares of the largest window fit 31 bits
/// and its sum of values is exact in a float.
struct WindowSums {
    /// Sum of the values, and of their squares.
    std::int32_t values = 0, squares = 0;

    /// Sums of two adjacent ranges. Prefix sums of squares may wrap around; their differences are still correct.
    FRAMEWIRE_HOST_DEVICE friend constexpr WindowSums operator+(WindowSums a, WindowSums b) {
        return {a.values + b.values, static_cast<std::int32_t>(static_cast<std::uint32_t>(a.squares) +
                                                               static_cast<std::uint32_t>(b.squares))};
    }
    /// Difference of two prefix sums.
    FRAMEWIRE_HOST_DEVICE friend constexpr WindowSums operator-(WindowSums a, WindowSums b) {
        return {a.values - b.values, static_cast<std::int32_t>(static_cast<std::uint32_t>(a.squares) -
                                                               static_cast<std::uint32_t>(b.squares))};
    }
};

/// Threshold of a pixel whose window has `pixels` pixels in the image. Computed in float with every operation rounded
/// separately, so that all backends and instruction sets give the same bytes. Sources that use it are compiled with
/// -ffp-contract=off.
inline float sauvola_threshold(const WindowSums& sums, float pixels, float k) {
    const float mean = static_cast<float>(sums.values) / pixels;
    const float square = static_cast<float>(sums.squares) / pixels;
    const float difference = square - mean * mean;
    const float variance = difference > 0 ? difference : 0;
    const float contrast = std::sqrt(variance) * (1.0f / 128) - 1;
    return (mean + 128) * (1 + k * contrast);
}

}  // namespace framewire
