// Compositing on black in the stored values, not in linear light, because viewers do it this way and the result must
// look like theirs.

#include "framewire/media/images/alpha.hpp"

namespace framewire {
namespace {

// One row: round(value * alpha / 255).
template <int channels>
void lay_row(const std::uint8_t* pixels, int count, std::uint8_t* out) {
    for (int x = 0; x < count; ++x, pixels += channels + 1, out += channels) {
        const int alpha = pixels[channels];
        for (int channel = 0; channel < channels; ++channel)
            out[channel] = static_cast<std::uint8_t>((pixels[channel] * alpha + 127) / 255);
    }
}

}  // namespace

void lay_on_black(const std::uint8_t* pixels, std::ptrdiff_t stride_bytes, HostView<std::uint8_t> image) {
    const auto& shape = image.shape();
    for (int y = 0; y < shape.height; ++y, pixels += stride_bytes) {
        if (shape.channels == 1)
            lay_row<1>(pixels, shape.width, image.row(0, y));
        else
            lay_row<3>(pixels, shape.width, image.row(0, y));
    }
}

}  // namespace framewire
