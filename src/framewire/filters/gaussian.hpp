#pragma once

#include "framewire/core/parameters.hpp"
#include "framewire/filters/filter.hpp"
#include "framewire/filters/window.hpp"

#include <cstdint>

namespace framewire {

/// Largest standard deviation of `gaussian`, in pixels. At this value every window is practically a mean.
inline constexpr double max_gaussian_sigma_px = 1000;

/// How a Gaussian's weights and the results of its first pass are rounded.
enum class GaussianRounding {
    fine,   ///< results differ by at most 1 from the float64 formula rounded to integers, for any image
    opencv  ///< as OpenCV's 8-bit GaussianBlur: weights in 256ths, which is coarser for large windows, and no
    ///< rounding between the passes. For odd sizes the results equal OpenCV's byte for byte.
};

/// Names of the roundings in options.
inline constexpr NamedValue<GaussianRounding> gaussian_rounding_names[] = {{"fine", GaussianRounding::fine},
                                                                           {"opencv", GaussianRounding::opencv}};

/// Parameters of Gaussian.
struct GaussianParameters {
    /// Side of the window, 1 to 255. An even one covers -size/2 to size/2 - 1 and has its middle between two pixels. 0
    /// means gaussian_size_for(sigma).
    int size = 5;
    double sigma = 0;  ///< standard deviation in pixels, up to 1000; 0 means default_gaussian_sigma(size)
    Border border = Border::reflect101;  ///< source of pixels outside the image
    /// How weights and results are rounded.
    GaussianRounding rounding = GaussianRounding::fine;
};

/// Weights of a sampled Gaussian in fixed point, the same for rows, columns and all backends. They are symmetric, so
/// only one of each pair is stored. The result of a pass is
///     sum over t of folded[t] * (tap t + tap (taps - 1 - t)).
/// If the number of taps is odd, the middle tap is added to itself.
struct GaussianWeights {
    int taps;                                          ///< number of nonzero taps, at most `size`
    WindowReach reach;                                 ///< extent of the nonzero taps
    std::int16_t folded[(max_window_px + 1) / 2 + 1];  ///< (taps + 1) / 2 weights, outermost first; they sum to 2^14
    bool is_short;              ///< true for `fine` with at most gaussian_most_short_taps taps and weights in 256ths
    GaussianRounding rounding;  ///< rounding for which the weights were computed

    /// Returns the number of stored weights.
    int terms() const { return (taps + 1) / 2; }
};

/// Unit of short weights, as a multiple of 1/2^15. Short weights in this unit fit 8 bits.
inline constexpr int gaussian_short_unit = 128;
/// Largest number of taps of short weights.
inline constexpr int gaussian_most_short_taps = 5;

/// Computes the weights, rounded so that their sum is exact and every partial sum from the outermost tap inwards is off
/// by at most half a unit. The unit is 1/256 for GaussianRounding::opencv, and for `fine` if that keeps its error
/// bound; otherwise 1/2^15. For `opencv` this is the error diffusion of OpenCV's getGaussianKernelFixedPoint_ED. Throws
/// Error{usage} on a size or sigma that is not allowed, and if both are 0.
GaussianWeights gaussian_weights(int size, double sigma, GaussianRounding rounding = GaussianRounding::fine);

/// Returns the window size used for `size` 0: 6 sigma - 1 rounded to nearest, plus 1 if that is even, at most 255.
int gaussian_size_for(double sigma);

/// Returns the standard deviation used for `sigma` 0, as in OpenCV's getGaussianKernel.
constexpr double default_gaussian_sigma(int size) { return 0.3 * ((size - 1) * 0.5 - 1) + 0.8; }

/// Returns the right shift after the row pass, which rounds halves up. Each pass multiplies by weights that sum to
/// 2^15. `fine` keeps 6 fractional bits of a row's results, so that the sum of two still fits a signed 16-bit number.
/// `opencv` keeps 8, which is all that weights in 256ths produce, so nothing is rounded before the end.
constexpr int gaussian_row_shift(GaussianRounding rounding) { return rounding == GaussianRounding::fine ? 9 : 7; }
/// Returns the right shift after the column pass, which removes the remaining fractional bits.
constexpr int gaussian_column_shift(GaussianRounding rounding) { return 30 - gaussian_row_shift(rounding); }

/// Gaussian blur (streaming report, section 6.3): a sampled Gaussian whose weights sum to one, as a row pass and a
/// column pass in fixed point. GaussianRounding states the accuracy.
///
/// `in` and `out`: one shape with 1 or 3 channels, any strides and alignment, no overlap.
class Gaussian {
public:
    /// Throws Error{usage} on a shape, size or sigma that is not allowed.
    Gaussian(GaussianParameters parameters, const Shape& shape, Executor& executor);

    /// Returns the shape of the result, which is that of the image.
    Shape output_shape() const { return shape_; }

    /// Runs on the executor's threads and returns when done.
    void run(const FilterImages<MemorySpace::host>& images) const;
    /// Queues the filter on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images) const;

private:
    FilterOnDevice plan_for_cuda() const;

    Border border_;
    GaussianWeights weights_;
    Shape shape_;
    Executor* executor_;
    FilterOnDevice on_device_;
};

/// Returns the registry entry of `gaussian`.
FilterInfo gaussian_info();

/// Returns true if gaussian_of_short_weights() supports these weights.
bool short_on_cuda(const GaussianWeights& weights);

/// Makes the GPU filter for 8-bit weights and few taps.
FilterOnDevice gaussian_of_short_weights(const GaussianWeights& weights, Border border, const Shape& shape,
                                         Executor& executor);

/// Returns true if gaussian_by_matrices() supports these weights on the current GPU.
bool gaussian_fits_matrices(const GaussianWeights& weights);

/// Makes the GPU filter that uses tensor cores, for windows of up to 65 taps.
FilterOnDevice gaussian_by_matrices(const GaussianWeights& weights, Border border, const Shape& shape,
                                    Executor& executor);

}  // namespace framewire
