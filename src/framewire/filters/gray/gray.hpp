#pragma once

#include "framewire/filters/filter.hpp"

#include <cstdint>

namespace framewire {

enum class GrayMethod {
    weighted,  ///< (3735 B + 19235 G + 9798 R + 2^14) >> 15: what OpenCV's BGR2GRAY gives, byte for byte
    average,   ///< floor((B + G + R) / 3), the report's first
};

struct GrayParameters {
    GrayMethod method = GrayMethod::weighted;
    int channels = 3;  ///< of the result: 3 (the gray value in each) or 1
};

/// Gray from BGR (streaming report, section 7). A one-channel image is its own gray value.
/// In and out: any strides, any alignment, no overlap; frames x height x width.
class Gray {
public:
    /// Throws Error{usage} on a shape or channel count that is not allowed.
    Gray(GrayParameters parameters, const Shape& shape, Executor& executor);

    Shape output_shape() const { return shape_.with_channels(parameters_.channels); }

    /// On the executor's threads; returns when done.
    void run(const FilterImages<MemorySpace::host>& images) const;
    /// Queued on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images) const;

private:
    GrayParameters parameters_;
    Shape shape_;
    Executor* executor_;
};

/// The registry's entry.
FilterInfo gray_info();

/// One run of pixels on the CPU: what Gray does, for passes that join several filters.
void gray_span(GrayMethod method, const std::uint8_t* in, int in_channels, std::int64_t pixels, int out_channels,
               std::uint8_t* out);

/// gray = (b * B + g * G + r * R + rounding) >> 15, which serves both methods exactly: the weighted one with OpenCV's
/// own constants, the average because floor(s / 3) = (s * 10923) >> 15 for every s up to 765.
struct GrayWeights {
    std::int16_t b, g, r;
    std::int32_t rounding;
};

inline constexpr int gray_shift = 15;

constexpr GrayWeights gray_weights(GrayMethod method) {
    return method == GrayMethod::weighted ? GrayWeights{3735, 19235, 9798, 1 << (gray_shift - 1)}
                                          : GrayWeights{10923, 10923, 10923, 0};
}

}  // namespace framewire
