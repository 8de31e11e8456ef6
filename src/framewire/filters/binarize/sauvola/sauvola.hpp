#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/host_device.hpp"
#include "framewire/filters/filter.hpp"

#include <cmath>
#include <cstdint>

namespace framewire {

struct SauvolaParameters {
    int window = 25;  ///< odd, 3..max_sauvola_window
    double k = 0.2;   ///< 0..1
};

inline constexpr int max_sauvola_window = 255;

/// Black and white by a threshold for each pixel, for documents on uneven paper (Sauvola and Pietikainen, "Adaptive
/// document image binarization", 2000): white where gray > mean * (1 + k * (deviation / 128 - 1)), mean and standard
/// deviation being those of the window around the pixel, as far as it lies in the image. Sums are running ones: the
/// cost does not grow with the window. In and out: any strides, any alignment, no overlap; as many channels as the
/// image. A plan is for one run at a time.
class Sauvola {
public:
    /// Throws Error{usage} on a shape, window or k that is not allowed.
    Sauvola(SauvolaParameters parameters, const Shape& shape, Executor& executor);

    Shape output_shape() const { return shape_; }

    /// On the executor's threads; returns when done.
    void run(const FilterImages<MemorySpace::host>& images);
    /// Queued on the executor's stream, one launch.
    void run(const FilterImages<MemorySpace::device>& images) const;

private:
    FilterOnDevice plan_for_cuda() const;

    SauvolaParameters parameters_;
    Shape shape_;
    Executor* executor_;
    FilterOnDevice on_device_;
    int band_rows_;           // CPU: what one thread takes at a time
    HostBuffer gray_, sums_;  // CPU: one frame's gray values where it is BGR; each band's running sums
};

/// A window's sums as both backends keep them: of value - 128, so that the largest window's squares fit 31 bits and its
/// values are exact in a float.
struct WindowSums {
    std::int32_t values = 0, squares = 0;

    // Squares may wrap around; differences of them do not.
    FRAMEWIRE_HOST_DEVICE friend constexpr WindowSums operator+(WindowSums a, WindowSums b) {
        return {a.values + b.values, static_cast<std::int32_t>(static_cast<std::uint32_t>(a.squares) +
                                                               static_cast<std::uint32_t>(b.squares))};
    }
    FRAMEWIRE_HOST_DEVICE friend constexpr WindowSums operator-(WindowSums a, WindowSums b) {
        return {a.values - b.values, static_cast<std::int32_t>(static_cast<std::uint32_t>(a.squares) -
                                                               static_cast<std::uint32_t>(b.squares))};
    }
};

/// The threshold of a pixel whose window has `pixels` pixels: in float, one correctly rounded operation after the
/// other, so that every backend and instruction set comes to the same bytes. Sources that use it are compiled with
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
