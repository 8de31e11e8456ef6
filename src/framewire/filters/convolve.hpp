#pragma once

#include "framewire/filters/filter.hpp"
#include "framewire/filters/window.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace framewire {

/// Limits of a matrix and its divisor. Within them, all sums fit 32 bits.
inline constexpr int max_convolve_size = 15,  ///< side of the matrix
    max_convolve_weight = 10'000,             ///< absolute value of each number
    max_convolve_divisor = 1'000'000;         ///< divisor of the sum

/// Parameters of Convolve. The default sharpens.
struct ConvolveParameters {
    std::vector<int> matrix{0, -1, 0, -1, 5, -1, 0, -1, 0};  ///< square with an odd side; rows from top to bottom
    int divisor = 1;                                         ///< divisor of the sum, 1..max_convolve_divisor
    int offset = 0;                                          ///< value added after the division, -255..255
    /// Source of pixels outside the image.
    Border border = Border::reflect101;
};

/// Parses numbers separated by white space. Throws Error{usage} unless they are integers in range that form a square
/// matrix with an odd side of at most max_convolve_size.
std::vector<int> parse_matrix(std::string_view text);

/// One nonzero number of the matrix, with the offset of the pixel to which it applies.
struct ConvolveTap {
    /// Offset from the middle of the window, in pixels.
    int right, down;
    /// The matrix's number.
    std::int16_t weight;
};

/// Convolution with a small integer matrix: sum(matrix * pixels) / divisor, rounded to nearest with halves up, plus
/// offset, clamped to 0..255. The matrix is laid over the image as written, without rotation, as in FFmpeg's
/// convolution and OpenCV's filter2D (a correlation in the strict sense).
///
/// `in` and `out`: one shape with 1 or 3 channels, any strides and alignment, no overlap.
class Convolve {
public:
    /// Throws Error{usage} on parameters or shapes that are not allowed.
    Convolve(const ConvolveParameters& parameters, const Shape& shape, Executor& executor);

    /// Returns the shape of the result, which is that of the image.
    const Shape& output_shape() const { return shape_; }

    /// Runs on the executor's threads and returns when done.
    void run(const FilterImages<MemorySpace::host>& images) const;
    /// Queues the filter on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images) const;

private:
    /// Prepares the GPU kernel.
    FilterOnDevice plan_for_cuda() const;

    int size_, divisor_, offset_;
    Border border_;
    Shape shape_;
    Executor* executor_;
    std::vector<ConvolveTap> taps_;
    FilterOnDevice on_device_;
};

/// Returns the registry entry of `convolve`.
FilterInfo convolve_info();

}  // namespace framewire
