#pragma once

#include "framewire/filters/filter.hpp"
#include "framewire/filters/window.hpp"

#include <cstdint>

namespace framewire {

/// Parameters of Mean.
struct MeanParameters {
    /// Side of the window, 1 to 255; an even window covers offsets -size/2 to size/2 - 1.
    int size = 3;
    Border border = Border::reflect101;  ///< pixels outside the image
};

/// Mean of the size x size pixels around each pixel, rounded to nearest, halves up (streaming report, section 6.2).
/// Running sums make the cost per pixel nearly independent of the size.
///
/// `in` and `out` have the same shape, with 1 or 3 channels, any strides and alignment. They must not overlap.
class Mean {
public:
    /// Prepares the filter. Throws Error{usage} if the shape or the size is not allowed.
    Mean(MeanParameters parameters, const Shape& shape, Executor& executor);

    /// Returns the shape of the result, which is that of the image.
    Shape output_shape() const { return shape_; }

    /// Runs on the executor's threads and returns when done.
    void run(const FilterImages<MemorySpace::host>& images) const;
    /// Queues the filter on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images) const;

private:
    FilterOnDevice plan_for_cuda() const;

    MeanParameters parameters_;
    Shape shape_;
    Executor* executor_;
    FilterOnDevice on_device_;
};

/// Returns the registry entry of `mean`.
FilterInfo mean_info();

/// Largest size for which a window's sum, including the rounding term, fits 16 bits.
inline constexpr int mean_16_bit_size = 16;

/// Divides a window's sum by its n = size * size pixels with one multiplication: mean = (sum + bias) * multiplier >>
/// shift. Exact for every sum up to 255 n (Robison, "N-bit unsigned division via N-bit multiply-add", 2005).
struct MeanDivision {
    std::uint32_t bias;        ///< includes n / 2, for rounding to nearest
    std::uint32_t multiplier;  ///< 2^shift / n, rounded up or down
    /// Right shift of the product.
    int shift;
};

/// Returns the division for a multiplier and sums of `bits` bits: 16 for sizes up to mean_16_bit_size, otherwise 32.
/// The shift is at least `bits`.
///
/// Let the multiplier be 2^shift / n rounded up, m = (2^shift + e) / n. Then x * m >> shift is floor(x / n) as long as
/// x * e < 2^shift. If that does not hold for all sums, the multiplier rounded down and x + 1 are exact.
constexpr MeanDivision mean_division(int size, int bits) {
    const auto n = static_cast<std::uint64_t>(size) * static_cast<std::uint64_t>(size);
    int shift = bits;
    while ((std::uint64_t{1} << (shift - bits + 1)) < n) ++shift;
    const auto power = std::uint64_t{1} << shift;
    const auto rounded_up = (power + n - 1) / n;
    const auto greatest = 255 * n + n / 2;
    if (rounded_up >> bits == 0 && greatest * (rounded_up * n - power) < power)
        return {static_cast<std::uint32_t>(n / 2), static_cast<std::uint32_t>(rounded_up), shift};
    return {static_cast<std::uint32_t>(n / 2 + 1), static_cast<std::uint32_t>((power - 1) / n), shift};
}

/// Returns the division for sums of up to 32 bits and sizes above mean_16_bit_size, with a shift of five bytes, so that
/// the mean is a byte of the product. For these sizes the multiplier fits 32 bits, and e < n makes x * e < 2^40 for
/// every n up to 255 * 255.
constexpr MeanDivision mean_division_by_bytes(int size) {
    const auto n = static_cast<std::uint64_t>(size) * static_cast<std::uint64_t>(size);
    return {static_cast<std::uint32_t>(n / 2), static_cast<std::uint32_t>(((std::uint64_t{1} << 40) + n - 1) / n), 40};
}

/// Makes the GPU filter for sizes up to mean_16_bit_size, which adds up windows in registers.
FilterOnDevice mean_by_addition(const MeanParameters& parameters, const Shape& shape, Executor& executor);

}  // namespace framewire
