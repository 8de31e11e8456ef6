#pragma once

#include "framewire/core/parameters/named_value.hpp"
#include "framewire/filters/filter.hpp"
#include "framewire/filters/window.hpp"

#include <cstdint>

namespace framewire {

/// Largest standard deviation of `gaussian`, in pixels; with it every window is as good as a mean.
inline constexpr double max_gaussian_sigma_px = 1000;

/// How a Gaussian's weights are rounded.
enum class GaussianRounding {
    fine,   ///< so that the filter stays within 1 of the formula in float64 for any image
    opencv  ///< to 256ths, as OpenCV rounds those of its 8-bit GaussianBlur, which for large windows are coarser
};

/// What they are called.
inline constexpr NamedValue<GaussianRounding> gaussian_rounding_names[] = {{"fine", GaussianRounding::fine},
                                                                           {"opencv", GaussianRounding::opencv}};

struct GaussianParameters {
    /// Side of the window, 1 to 255; an even one sees -size/2 to size/2 - 1, its middle between two pixels. 0 stands
    /// for gaussian_size_for(sigma).
    int size = 5;
    double sigma = 0;  ///< standard deviation in pixels, up to 1000; 0 stands for 0.3 * ((size - 1) / 2 - 1) + 0.8
    Border border = Border::reflect101;
    GaussianRounding rounding = GaussianRounding::fine;
};

/// A sampled Gaussian's weights in fixed point, the same for rows and columns and for every backend. The weights are
/// symmetric, so only one of each two is kept: the result of a pass is
///     sum over t of folded[t] * (tap t + tap taps - 1 - t), with the middle tap of an odd number added to itself.
struct GaussianWeights {
    int taps;                                          ///< that are not zero, at most `size`
    WindowReach reach;                                 ///< of those taps
    std::int16_t folded[(max_window_px + 1) / 2 + 1];  ///< outermost first, (taps + 1) / 2 of them; their sum is 2^14
    bool is_short;  ///< whether there are few taps (gaussian_most_short_taps) whose weights are multiples of 1/256

    int terms() const { return (taps + 1) / 2; }
};

/// Of 2^15: the unit of short weights, which fit 8 bits.
inline constexpr int gaussian_short_unit = 128;
/// Windows with more taps never count as short.
inline constexpr int gaussian_most_short_taps = 5;

/// Weights rounded so that their sum is exact and each partial sum from the rim inwards is off by half a unit at most:
/// 1/256 for GaussianRounding::opencv and where the filter stays within 1 of the formula for any image with it, else
/// 1/2^15. Throws Error{usage} on a size or sigma that is not allowed, both 0 among them.
GaussianWeights gaussian_weights(int size, double sigma, GaussianRounding rounding = GaussianRounding::fine);

/// The size that `size` 0 stands for: 6 sigma - 1 rounded to nearest, made odd, at most 255.
int gaussian_size_for(double sigma);

/// The sigma that `sigma` 0 stands for.
constexpr double default_gaussian_sigma(int size) { return 0.3 * ((size - 1) * 0.5 - 1) + 0.8; }

/// Each pass sums up bytes, or the rows' results, times weights whose sum is 2^15. The rows' results keep 6 bits behind
/// the point, so that two of them still fit 16 bits with a sign.
inline constexpr int gaussian_row_shift = 9;
inline constexpr int gaussian_column_shift = 21;

/// Gaussian blur (streaming report, section 6.3): sampled, weights summing to one, within 1 of the formula in float64,
/// or with GaussianRounding::opencv within 1 of OpenCV's 8-bit GaussianBlur. In and out: one shape, any strides, any
/// alignment, no overlap; 1 or 3 channels.
class Gaussian {
public:
    /// Throws Error{usage} on a shape, size or sigma that is not allowed.
    Gaussian(GaussianParameters parameters, const Shape& shape, Executor& executor);

    Shape output_shape() const { return shape_; }

    /// On the executor's threads; returns when done.
    void run(const FilterImages<MemorySpace::host>& images) const;
    /// Queued on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images) const;

private:
    FilterOnDevice plan_for_cuda() const;

    Border border_;
    GaussianWeights weights_;
    Shape shape_;
    Executor* executor_;
    FilterOnDevice on_device_;
};

/// The registry's entry.
FilterInfo gaussian_info();

}  // namespace framewire
