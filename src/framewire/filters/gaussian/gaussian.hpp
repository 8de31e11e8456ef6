#pragma once

#include "framewire/core/parameters/named_value.hpp"
#include "framewire/filters/filter.hpp"
#include "framewire/filters/window.hpp"

#include <cstdint>

namespace framewire {

/// Largest standard deviation of `gaussian`, in pixels; with it every window is as good as a mean.
inline constexpr double max_gaussian_sigma_px = 1000;

/// How a Gaussian's weights and the results of its first pass are rounded.
enum class GaussianRounding {
    fine,   ///< so that results differ by 1 at most from the float64 formula rounded to whole values, for any image
    opencv  ///< as in OpenCV's 8-bit GaussianBlur: weights in 256ths, which for large windows are coarser, and no
            ///< rounding between the passes. For odd sizes the results are OpenCV's, byte for byte.
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
    bool is_short;  ///< `fine`, with few taps (gaussian_most_short_taps) whose weights are multiples of 1/256
    GaussianRounding rounding;

    int terms() const { return (taps + 1) / 2; }
};

/// Of 2^15: the unit of short weights, which fit 8 bits.
inline constexpr int gaussian_short_unit = 128;
/// Windows with more taps never count as short.
inline constexpr int gaussian_most_short_taps = 5;

/// Weights rounded so that their sum is exact and each partial sum from the rim inwards is off by half a unit at most.
/// The unit is 1/256 for GaussianRounding::opencv, and for `fine` if that is enough for the bound above; else 1/2^15.
/// For `opencv` this is the error diffusion of OpenCV's getGaussianKernelFixedPoint_ED. Throws Error{usage} on a size
/// or sigma that is not allowed, both 0 among them.
GaussianWeights gaussian_weights(int size, double sigma, GaussianRounding rounding = GaussianRounding::fine);

/// The size that `size` 0 stands for: 6 sigma - 1 rounded to nearest, made odd, at most 255.
int gaussian_size_for(double sigma);

/// The sigma that `sigma` 0 stands for.
constexpr double default_gaussian_sigma(int size) { return 0.3 * ((size - 1) * 0.5 - 1) + 0.8; }

/// Each pass sums bytes, or the rows' results, times weights whose sum is 2^15, and shifts the sum right by this much,
/// rounding half up. `fine` keeps 6 fractional bits of the rows' results, so that two of them still fit 16 bits with a
/// sign. `opencv` keeps 8, which is all that weights in 256ths have: nothing is rounded before the end.
constexpr int gaussian_row_shift(GaussianRounding rounding) { return rounding == GaussianRounding::fine ? 9 : 7; }
constexpr int gaussian_column_shift(GaussianRounding rounding) { return 30 - gaussian_row_shift(rounding); }

/// Gaussian blur (streaming report, section 6.3): sampled, weights summing to one; GaussianRounding says what the
/// results are compared with. In and out: one shape, any strides, any alignment, no overlap; 1 or 3 channels.
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
