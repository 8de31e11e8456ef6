#pragma once

#include "framewire/filters/filter.hpp"
#include "framewire/filters/pointwise/pixel.hpp"

#include <atomic>
#include <cstdint>

namespace framewire {

/// Converts the settings to terms, each rounded to nearest, halves away from zero. Throws Error{usage} if a setting is
/// out of range or not a number.
AdjustTerms adjust_terms(const Adjustment& adjustment);

/// Brightness, contrast, saturation and gain in software, as the camera panel of the streaming report sets them
/// (section 5). Exact integer arithmetic, for each channel value v:
///   w = clamp(((v * slope + 256) >> 9) + offset)            gain, contrast about 128, brightness
///   result = clamp(m + (((w - m) * saturation + 128) >> 8)) saturation about the pixel's gray m
/// where clamp limits to 0..255 and m is `gray=weighted` of the three w. A one-channel pixel is its own gray.
///
/// `in` and `out`: frames x height x width, 1 or 3 channels, any strides and alignment, no overlap.
class Adjust {
public:
    /// Throws Error{usage} on a setting or shape that is not allowed.
    Adjust(const Adjustment& adjustment, const Shape& shape, Executor& executor);
    /// Takes terms directly: from adjust_terms(), or as planes of YUV need them. Throws Error{usage} on a shape that is
    /// not allowed.
    Adjust(const Shape& shape, const AdjustTerms& terms, Executor& executor);

    /// Shape of the result: that of the image.
    Shape output_shape() const { return shape_; }

    /// Takes effect with the next run; callable from any thread. Throws as the constructor does and then changes
    /// nothing.
    bool set_adjustment(const Adjustment& adjustment);

    /// On the executor's threads; returns when done.
    void run(const FilterImages<MemorySpace::host>& images) const;
    /// Queued on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images) const;

private:
    // One atomic word, so that set_adjustment() needs no lock.
    std::atomic<AdjustTerms> terms_;
    Shape shape_;
    Executor* executor_;
};

/// Registry entry of `adjust`.
FilterInfo adjust_info();

/// Adjust as a pointwise operation, for passes that fuse several filters.
PointwiseOp adjust_op(const AdjustTerms& terms);
/// The terms stored in an operation from adjust_op().
constexpr AdjustTerms adjust_terms_of(const PointwiseOp& op) {
    return {static_cast<std::int16_t>(op.values[0]), static_cast<std::int16_t>(op.values[1]),
            static_cast<std::int16_t>(op.values[2])};
}

/// Settings from the parameter values of an `adjust` in a chain.
Adjustment adjustment_from(const ParameterValues& values);

/// Applies the terms to one run of pixels on the calling thread, with vector instructions. `in` and `out` must not
/// overlap.
void adjust_span(const AdjustTerms& terms, const std::uint8_t* in, int channels, std::int64_t pixels,
                 std::uint8_t* out);

}  // namespace framewire
