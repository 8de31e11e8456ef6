#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace framewire {

enum class ScaleMethod {
    area,      ///< the mean of what a pixel of the result covers
    bilinear,  ///< a triangle over 2 pixels
    bicubic,   ///< Keys's cubic with a = -1/2 over 4 pixels, also called Catmull-Rom
    lanczos,   ///< a sinc windowed by a wider one, over 6 pixels
};

/// Weights are multiples of 2^-14.
inline constexpr int scale_weight_bits = 14;

/// How the samples along an axis of a result lie on those of its image: the middle of sample i is at
/// (i + 1/2 + shift_to / 4) * ratio_from / ratio_to - shift_from / 4 - 1/2 of the image. Images have the ratio of their
/// sides and no shift; chroma has that of its luma, and is shifted by where it sits.
struct ScaleGrid {
    int from, to;  ///< samples of the image and of the result, 1 to max_side_px
    int ratio_from, ratio_to;
    int shift_from = 0, shift_to = 0;  ///< in quarters of a sample

    constexpr ScaleGrid(int all_from, int all_to) : ScaleGrid(all_from, all_to, all_from, all_to) {}
    constexpr ScaleGrid(int all_from, int all_to, int part_from, int part_to, int by_from = 0, int by_to = 0)
        : from(all_from), to(all_to), ratio_from(part_from), ratio_to(part_to), shift_from(by_from), shift_to(by_to) {}
};

/// How the pixels along one axis of a result come of those of an image: pixel i is the sum over tap t of
/// weights[i * stride + t] * (pixel first[i] + t), divided by 2^14.
///
/// Pixel i of the result has its middle where the ScaleGrid says. The kernel is laid there; where
/// the image shrinks it is as many times wider, so that what is finer than the result's pixels is averaged and does not
/// alias. What it weighs beyond the image counts for the nearest pixel. Weights add up to 2^14 exactly, and each
/// partial sum is off by half a unit at most (Schumacher, "General filtered image rescaling", Graphics Gems III, 1992;
/// Keys, "Cubic convolution interpolation for digital image processing", 1981; Duchon, "Lanczos filtering in one and
/// two dimensions", 1979).
struct ScaleAxis {
    int from = 0, to = 0;  ///< pixels of the image and of the result
    int taps = 0;          ///< most that any pixel has
    int stride = 0;        ///< taps with zeros behind them
    std::vector<std::int32_t> first{};
    std::vector<std::int16_t> weights{};

    const std::int16_t* weights_of(int index) const {
        return weights.data() + static_cast<std::size_t>(index) * static_cast<std::size_t>(stride);
    }
};

/// The exact weights of one pixel of a result.
struct ExactTaps {
    int first;
    std::vector<double> weights;  ///< of consecutive pixels, all inside the image; their sum is 1
};

/// Those of all pixels along an axis.
struct AxisTaps {
    int from, to;  ///< pixels of the image and of the result
    std::function<ExactTaps(int index)> of;
};

/// Those of a scale.
AxisTaps scale_taps(ScaleMethod method, const ScaleGrid& grid);

/// `multiple` is what stride is a multiple of. Taps of weight 0 may lie behind the image's last pixel, all others are
/// inside.
ScaleAxis scale_axis(const AxisTaps& exact, int multiple);

/// One of scale_taps().
ExactTaps exact_scale_taps(ScaleMethod method, const ScaleGrid& grid, int index);

}  // namespace framewire
