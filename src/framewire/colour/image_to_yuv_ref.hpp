#pragma once

#include "framewire/colour/yuv.hpp"

#include <cstdint>

namespace framewire {

/// Reference implementation: the integer formula, sample by sample. Tests and benchmarks compare with it.
inline void image_to_yuv_reference(HostView<const std::uint8_t> image, const HostYuv<std::uint8_t>& picture) {
    const auto& info = picture.info;
    const auto by = to_yuv_coefficients(info.coding);
    const int channels = image.shape().channels;
    for (int frame = 0; frame < info.frames; ++frame)
        for (int y = 0; y < info.height; ++y)
            for (int x = 0; x < info.width; ++x) {
                const auto* pixel = image.row(frame, y) + x * channels;
                int luma = by.y_offset;
                if (channels == 1) {
                    luma += rounded_product(pixel[0] << 7, by.y_gray);
                } else {
                    luma += rounded_product(pixel[0] << 7, by.y_b) + rounded_product(pixel[1] << 7, by.y_g) +
                            rounded_product(pixel[2] << 7, by.y_r);
                }
                picture.planes[0].row(frame, y)[x] = held_byte(luma >> to_yuv_shift);
            }
    // Chroma: the mean of up to 3 x 3 pixels around the site, in sixteenths.
    if (info.format.chroma == ChromaSampling::none) return;

    const bool halved_x = info.format.chroma != ChromaSampling::s444;
    const bool halved_y = info.format.chroma == ChromaSampling::s420;
    for (int frame = 0; frame < info.frames; ++frame)
        for (int y = 0; y < info.chroma_height(); ++y)
            for (int x = 0; x < info.chroma_width(); ++x) {
                int u = 0, v = 0;
                if (channels == 3) {
                    const auto rows = pixel_taps(y, halved_y, info.siting.centred_y);
                    const auto columns = pixel_taps(x, halved_x, info.siting.centred_x);
                    int sums[3] = {};  // sixteenths of B, G, R
                    for (int row = 0; row < 3; ++row)
                        for (int column = 0; column < 3; ++column) {
                            const auto* pixel = image.row(frame, held_index(rows.first + row, info.height)) +
                                                held_index(columns.first + column, info.width) * 3;
                            for (int channel = 0; channel < 3; ++channel)
                                sums[channel] += rows.weights[row] * columns.weights[column] * pixel[channel];
                        }
                    u = rounded_product(sums[0] << 3, by.u_b) + rounded_product(sums[1] << 3, by.u_g) +
                        rounded_product(sums[2] << 3, by.u_r);
                    v = rounded_product(sums[0] << 3, by.v_b) + rounded_product(sums[1] << 3, by.v_g) +
                        rounded_product(sums[2] << 3, by.v_r);
                }
                // U and V go to one interleaved plane or to two planes.
                const auto store = [&](int component, int value) {
                    const auto byte = held_byte(((value + chroma_rounding) >> to_yuv_shift) + 128);
                    if (info.format.interleaved)
                        picture.planes[1].row(frame, y)[2 * x + component] = byte;
                    else
                        picture.planes[static_cast<std::size_t>(1 + component)].row(frame, y)[x] = byte;
                };
                store(0, u);
                store(1, v);
            }
}

}  // namespace framewire
