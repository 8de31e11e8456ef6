#pragma once

#include "framewire/filters/filter.hpp"
#include "framewire/filters/gray_input.hpp"

#include <atomic>
#include <cstdint>

namespace framewire {

/// Converts the settings to terms, each rounded to nearest, halves away from zero. Throws Error{usage} if a setting is
/// out of range or not a number.
AdjustTerms adjust_terms(const Adjustment& adjustment);

/// Adjusts brightness, contrast, saturation and gain in software, like the camera panel of the streaming report
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
    /// Takes the terms directly: those of adjust_terms(), or others for planes of YUV. Throws Error{usage} on a shape
    /// that is not allowed.
    Adjust(const Shape& shape, const AdjustTerms& terms, Executor& executor);

    /// Returns the shape of the result, which is that of the image.
    Shape output_shape() const { return shape_; }

    /// Changes the settings from the next run on and returns true; callable from any thread. Throws as the constructor
    /// does, and then changes nothing.
    bool set_adjustment(const Adjustment& adjustment);

    /// Runs on the executor's threads and returns when done.
    void run(const FilterImages<MemorySpace::host>& images) const;
    /// Queues the filter on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images) const;

private:
    // One atomic word, so that set_adjustment() needs no lock.
    std::atomic<AdjustTerms> terms_;
    Shape shape_;
    Executor* executor_;
};

/// Returns the parameters of an `adjust` with these settings. `info` is its registry entry.
ParameterValues adjustment_values(const FilterInfo& info, const Adjustment& adjustment);

/// Returns the registry entry of `adjust`.
FilterInfo adjust_info();

/// Returns Adjust as a pointwise operation, for passes that fuse several filters.
PointwiseOp adjust_op(const AdjustTerms& terms);
/// Returns the terms stored in an operation from adjust_op().
constexpr AdjustTerms adjust_terms_of(const PointwiseOp& op) {
    return {static_cast<std::int16_t>(op.values[0]), static_cast<std::int16_t>(op.values[1]),
            static_cast<std::int16_t>(op.values[2])};
}

/// Returns the settings that the parameter values of an `adjust` in a chain describe.
Adjustment adjustment_from(const ParameterValues& values);

/// Applies the terms to one run of pixels on the calling thread, with vector instructions. `in` and `out` must not
/// overlap.
void adjust_span(const AdjustTerms& terms, const std::uint8_t* in, int channels, std::int64_t pixels,
                 std::uint8_t* out);

/// Fractional bits of AdjustTerms::slope.
inline constexpr int adjust_slope_shift = 9;
/// The AdjustTerms::saturation that changes nothing.
inline constexpr int neutral_saturation = 256;

/// Applies gain, contrast and brightness to one channel value, 0..255.
FRAMEWIRE_HOST_DEVICE constexpr int adjust_level(int value, const AdjustTerms& terms) {
    return hold_to_byte(((value * terms.slope + (1 << (adjust_slope_shift - 1))) >> adjust_slope_shift) + terms.offset);
}

/// Applies saturation to one channel value, given the pixel's gray.
FRAMEWIRE_HOST_DEVICE constexpr int adjust_saturation(int value, int gray, const AdjustTerms& terms) {
    return hold_to_byte(gray + (((value - gray) * terms.saturation + 128) >> 8));
}

/// Applies the whole formula to one pixel on the host. Kernels use the packed form in AdjustOnDevice.
constexpr Pixel adjust_pixel(Pixel pixel, const AdjustTerms& terms) {
    const int b = adjust_level(channel_of(pixel, 0), terms);
    const int g = adjust_level(channel_of(pixel, 1), terms);
    const int r = adjust_level(channel_of(pixel, 2), terms);
    if (terms.saturation == neutral_saturation)
        return pixel_of(static_cast<unsigned>(b), static_cast<unsigned>(g), static_cast<unsigned>(r));
    const auto weights = gray_weights(GrayMethod::weighted);
    const int gray = (weights.b * b + weights.g * g + weights.r * r + weights.rounding) >> gray_shift;
    return pixel_of(static_cast<unsigned>(adjust_saturation(b, gray, terms)),
                    static_cast<unsigned>(adjust_saturation(g, gray, terms)),
                    static_cast<unsigned>(adjust_saturation(r, gray, terms)));
}

}  // namespace framewire
