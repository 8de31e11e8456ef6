#include "framewire/colour/coefficients.hpp"

#include <cmath>

namespace framewire {
namespace {

// Weights of red and blue in luma: ITU-R BT.601-7, BT.709-6 and BT.2020-2. Green has the rest of 1.
struct Weights {
    double r, b;
};

// The weights of the standard that defines the matrix.
Weights weights(YuvMatrix matrix) {
    switch (matrix) {
        case YuvMatrix::bt709: return {0.2126, 0.0722};
        case YuvMatrix::bt2020: return {0.2627, 0.0593};
        case YuvMatrix::bt601: break;
    }
    return {0.299, 0.114};
}

std::int16_t rounded(double value) { return static_cast<std::int16_t>(std::lround(value)); }

}  // namespace

FromYuvCoefficients from_yuv_coefficients(const YuvCoding& coding, int bits) {
    const auto [kr, kb] = weights(coding.matrix);
    const double kg = 1 - kr - kb;
    // Full range uses all 2^bits - 1 steps. Limited range has 219 steps of luma and 224 of chroma, times 4 with
    // 10 bits.
    const double step = bits == 8 ? 1 : 4;
    const double luma_steps = coding.full_range ? (1 << bits) - 1 : 219 * step;
    const double chroma_steps = coding.full_range ? (1 << bits) - 1 : 224 * step;
    // rounded_product() drops 15 bits. Its sample operand is scaled up to 15 bits (luma), or 16 bits with the
    // sign (chroma), which adds 15 - bits or 16 - bits.
    const double luma = 255 / luma_steps * (1 << from_yuv_shift) * (1 << bits);
    const double chroma = 255 / chroma_steps * (1 << from_yuv_shift) * (1 << (bits - 1));
    const double black = coding.full_range ? 0 : 16 * 255.0 / 219 * (1 << from_yuv_shift);
    return {.y = rounded(luma),
            .y_offset = rounded((1 << (from_yuv_shift - 1)) - black),
            .b_u = rounded(chroma * 2 * (1 - kb)),
            .g_u = rounded(-chroma * 2 * (1 - kb) * kb / kg),
            .g_v = rounded(-chroma * 2 * (1 - kr) * kr / kg),
            .r_v = rounded(chroma * 2 * (1 - kr))};
}

ToYuvCoefficients to_yuv_coefficients(const YuvCoding& coding) {
    const auto [kr, kb] = weights(coding.matrix);
    const double luma = (coding.full_range ? 1 : 219.0 / 255) * (1 << 15);
    const double chroma = (coding.full_range ? 1 : 224.0 / 255) * (1 << 15);
    // The green weights are computed as a remainder, so that each sum is exact and grays get luma and chroma
    // without an error.
    ToYuvCoefficients to{};
    to.y_gray = static_cast<std::int32_t>(std::lround(luma));
    to.y_b = rounded(luma * kb);
    to.y_r = rounded(luma * kr);
    to.y_g = static_cast<std::int16_t>(to.y_gray - to.y_b - to.y_r);
    to.u_b = rounded(chroma / 2);
    to.u_r = rounded(-chroma * kr / (2 * (1 - kb)));
    to.u_g = static_cast<std::int16_t>(-to.u_b - to.u_r);
    to.v_r = rounded(chroma / 2);
    to.v_b = rounded(-chroma * kb / (2 * (1 - kr)));
    to.v_g = static_cast<std::int16_t>(-to.v_r - to.v_b);
    to.y_offset = static_cast<std::int16_t>(((coding.full_range ? 0 : 16) << to_yuv_shift) + (1 << (to_yuv_shift - 1)));
    return to;
}

}  // namespace framewire
