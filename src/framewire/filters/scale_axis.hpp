#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace framewire {

/// Interpolation kernel. All kernels become wider when an image shrinks, so that none of them aliases.
enum class ScaleMethod {
    area,      ///< mean of the area that a pixel of the result covers
    bilinear,  ///< triangle over 2 pixels
    bicubic,   ///< Keys's cubic with a = -1/2 over 4 pixels, also known as Catmull-Rom
    lanczos,   ///< sinc windowed by a wider sinc, over 6 pixels
};

/// Fractional bits of the weights.
inline constexpr int scale_weight_bits = 14;

/// Position of a result's samples in an image, along one axis. The center of sample i lies at (i + 1/2 + shift_to / 4)
/// * ratio_from / ratio_to - shift_from / 4 - 1/2 in the image. For images, the ratio is that of their sides and the
/// shifts are 0. Chroma planes have the ratio of their luma plane, and their siting shifts them.
struct ScaleGrid {
    int from, to;                      ///< number of samples of the image and of the result, 1 to max_side_px
    int ratio_from, ratio_to;          ///< scale factor, as a fraction
    int shift_from = 0, shift_to = 0;  ///< shifts in quarters of a sample

    /// Makes the grid of an image: no shift, and the ratio of its sides.
    constexpr ScaleGrid(int all_from, int all_to) : ScaleGrid(all_from, all_to, all_from, all_to) {}
    /// Makes any grid; the arguments are in the order of the members.
    constexpr ScaleGrid(int all_from, int all_to, int part_from, int part_to, int by_from = 0, int by_to = 0)
        : from(all_from), to(all_to), ratio_from(part_from), ratio_to(part_to), shift_from(by_from), shift_to(by_to) {}
};

/// Fixed-point weights along one axis. Pixel i of the result is the sum over tap t of weights[i * stride + t] * (pixel
/// first[i] + t), divided by 2^14.
///
/// The kernel is centered where the ScaleGrid puts pixel i (Schumacher, "General filtered image rescaling", Graphics
/// Gems III, 1992). If the image shrinks, the kernel is widened by the scale factor, so that detail finer than the
/// result's pixels is averaged and does not alias. Weights beyond the image count for the nearest pixel. Weights sum to
/// 2^14 exactly, and every partial sum is off by at most half a unit.
///
/// Kernels: Keys, "Cubic convolution interpolation for digital image processing", 1981; Duchon, "Lanczos filtering in
/// one and two dimensions", 1979.
struct ScaleAxis {
    int from = 0, to = 0;               ///< pixels of the image and of the result
    int taps = 0;                       ///< maximum number of taps of any pixel
    int stride = 0;                     ///< taps stored per pixel, padded with zeros
    std::vector<std::int32_t> first{};  ///< first source pixel of each pixel of the result
    /// Weights, `stride` for each pixel of the result.
    std::vector<std::int16_t> weights{};

    /// Returns the weights of one pixel of the result.
    const std::int16_t* weights_of(int index) const {
        return weights.data() + static_cast<std::size_t>(index) * static_cast<std::size_t>(stride);
    }
};

/// Exact weights of one pixel of a result.
struct ExactTaps {
    /// First source pixel.
    int first;
    std::vector<double> weights;  ///< weights of consecutive pixels, all inside the image; they sum to 1
};

/// Exact weights of all pixels along an axis.
struct AxisTaps {
    int from, to;  ///< pixels of the image and of the result

    /// Returns the weights of pixel `index`.
    std::function<ExactTaps(int index)> of;
};

/// Returns the exact weights of a scaling method.
AxisTaps scale_taps(ScaleMethod method, const ScaleGrid& grid);

/// Rounds exact weights to fixed point. The stride becomes a multiple of `multiple`. Padding taps may lie beyond the
/// image's last pixel; all taps with a weight lie inside.
ScaleAxis scale_axis(const AxisTaps& exact, int multiple);

/// Returns the exact weights of pixel `index` of a result.
ExactTaps exact_scale_taps(ScaleMethod method, const ScaleGrid& grid, int index);

}  // namespace framewire
