#pragma once

#include "framewire/filters/filter.hpp"
#include "framewire/filters/window.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace framewire {

/// Largest side of a matrix, largest absolute value in it, and largest divisor: all sums fit 32 bits.
inline constexpr int max_convolve_size = 15, max_convolve_weight = 10'000, max_convolve_divisor = 1'000'000;

struct ConvolveParameters {
    std::vector<int> matrix{0, -1, 0, -1, 5, -1, 0, -1, 0};  ///< rows from top to bottom; as many as columns, odd
    int divisor = 1;                                         ///< 1 to max_convolve_divisor
    int offset = 0;                                          ///< -255 to 255
    Border border = Border::reflect101;
};

/// Reads numbers with spaces between them. Throws Error{usage} unless they are whole, in range, and those of a square
/// matrix of an odd side up to max_convolve_size.
std::vector<int> parse_matrix(std::string_view text);

/// One number of the matrix that is not 0, and where it looks, in pixels from its own.
struct ConvolveTap {
    int right, down;
    std::int16_t weight;
};

/// Any sum of the pixels around each one: matrix * pixels / divisor, rounded to nearest, half up, plus offset, held to
/// 0..255. The matrix lies on the image as it is written, not turned (what FFmpeg and OpenCV's filter2D do). In and
/// out: one shape, any strides, any alignment, no overlap; 1 or 3 channels.
class Convolve {
public:
    /// Throws Error{usage} on parameters and shapes that are not allowed.
    Convolve(const ConvolveParameters& parameters, const Shape& shape, Executor& executor);

    const Shape& output_shape() const { return shape_; }

    /// On the executor's threads; returns when done.
    void run(const FilterImages<MemorySpace::host>& images) const;
    /// Queued on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images) const;

private:
    FilterOnDevice plan_for_cuda() const;

    int size_, divisor_, offset_;
    Border border_;
    Shape shape_;
    Executor* executor_;
    std::vector<ConvolveTap> taps_;
    FilterOnDevice on_device_;
};

/// The registry's entry.
FilterInfo convolve_info();

}  // namespace framewire
