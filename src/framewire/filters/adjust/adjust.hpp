#pragma once

#include "framewire/filters/filter.hpp"
#include "framewire/filters/pointwise/pixel.hpp"

#include <atomic>
#include <cstdint>

namespace framewire {

/// The terms of the settings, each rounded to nearest, half away from zero. Throws Error{usage} on a setting that is
/// not allowed or no number.
AdjustTerms adjust_terms(const Adjustment& adjustment);

/// Brightness, contrast, saturation and gain, as the streaming report's camera panel sets them (section 5), in
/// software. In exact whole-number arithmetic, for each channel value v:
///   w = hold(((v * slope + 256) >> 9) + offset)            gain, contrast about 128, brightness
///   result = hold(m + (((w - m) * saturation + 128) >> 8)) saturation about the pixel's gray m
/// where hold is to 0..255 and m is `gray=weighted` of the three w; a one-channel pixel is its own gray.
/// In and out: any strides, any alignment, no overlap; frames x height x width.
class Adjust {
public:
    /// Throws Error{usage} on a setting or shape that is not allowed.
    Adjust(const Adjustment& adjustment, const Shape& shape, Executor& executor);
    /// By terms that adjust_terms() could give, or planes of YUV need. Throws likewise.
    Adjust(const Shape& shape, const AdjustTerms& terms, Executor& executor);

    Shape output_shape() const { return shape_; }

    /// Takes effect with the next run. From any thread. Throws as the constructor does, with nothing changed.
    bool set_adjustment(const Adjustment& adjustment);

    /// On the executor's threads; returns when done.
    void run(const FilterImages<MemorySpace::host>& images) const;
    /// Queued on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images) const;

private:
    std::atomic<AdjustTerms> terms_;
    Shape shape_;
    Executor* executor_;
};

/// The registry's entry.
FilterInfo adjust_info();

/// What Adjust does, for passes that join several filters; and the terms that such an op has.
PointwiseOp adjust_op(const AdjustTerms& terms);
constexpr AdjustTerms adjust_terms_of(const PointwiseOp& op) {
    return {static_cast<std::int16_t>(op.values[0]), static_cast<std::int16_t>(op.values[1]),
            static_cast<std::int16_t>(op.values[2])};
}

/// The settings of an `adjust` in a chain.
Adjustment adjustment_from(const ParameterValues& values);

/// One run of pixels on the CPU.
void adjust_span(const AdjustTerms& terms, const std::uint8_t* in, int channels, std::int64_t pixels,
                 std::uint8_t* out);

}  // namespace framewire
