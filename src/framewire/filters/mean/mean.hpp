#pragma once

#include "framewire/filters/border.hpp"
#include "framewire/filters/filter.hpp"

#include <cstdint>

namespace framewire {

struct MeanParameters {
    int size = 3;  ///< side of the window, 1 to 255; an even one sees -size/2 to size/2 - 1
    Border border = Border::reflect101;
};

/// The mean of the size x size pixels around each, rounded to nearest, half up (streaming report, section 6.2), by
/// running sums: a pixel costs about the same at every size.
/// In and out: one shape, any strides, any alignment, no overlap; 1 or 3 channels.
class Mean {
public:
    /// Throws Error{usage} on a shape or size that is not allowed.
    Mean(MeanParameters parameters, const Shape& shape, Executor& executor);

    Shape output_shape() const { return shape_; }

    /// On the executor's threads; returns when done.
    void run(const FilterImages<MemorySpace::host>& images) const;
    /// Queued on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images) const;

private:
    FilterOnDevice plan_for_cuda() const;

    MeanParameters parameters_;
    Shape shape_;
    Executor* executor_;
    FilterOnDevice on_device_;
};

/// The registry's entry.
FilterInfo mean_info();

/// Up to this size a window's sum, rounding included, fits 16 bits.
inline constexpr int mean_16_bit_size = 16;

/// Division of a window's sum by the window's n pixels as one multiplication: mean = (sum + bias) * multiplier >>
/// shift, exact for every sum up to 255 n (Robison, N-bit unsigned division via N-bit multiply-add, 2005).
struct MeanDivision {
    std::uint32_t bias;  ///< holds the n / 2 that rounds to nearest
    std::uint32_t multiplier;
    int shift;
};

/// For a multiplier and a sum of `bits` bits (16 for sizes up to mean_16_bit_size, 32 for all others): the shift is at
/// least `bits`.
/// With the multiplier 2^shift / n rounded up to m = (2^shift + e) / n, x * m >> shift is floor(x / n) while x * e <
/// 2^shift. Where that does not hold, the multiplier rounded down and x + 1 do.
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

/// The same for sums of up to 32 bits, with a shift of five bytes, for sizes above mean_16_bit_size, whose multiplier
/// fits 32 bits with it. There e < n, so that x * e < 2^40 for every n up to 255 * 255.
constexpr MeanDivision mean_division_by_bytes(int size) {
    const auto n = static_cast<std::uint64_t>(size) * static_cast<std::uint64_t>(size);
    return {static_cast<std::uint32_t>(n / 2), static_cast<std::uint32_t>(((std::uint64_t{1} << 40) + n - 1) / n), 40};
}

}  // namespace framewire
