#pragma once

#include "framewire/colour/yuv.hpp"

#include <cstdint>
#include <cstring>

namespace framewire {

/// Returns sample `x` of row `y` of a component: 0 is luma, 1 is U, 2 is V.
inline int yuv_sample(const HostYuv<const std::uint8_t>& picture, int component, int frame, int y, int x) {
    const auto& format = picture.info.format;
    // In an interleaved plane U and V alternate.
    const bool shared = format.interleaved && component > 0;
    const auto& plane = picture.planes[static_cast<std::size_t>(shared ? 1 : component)];
    const auto* row = plane.row(frame, y);
    const int at = shared ? 2 * x + component - 1 : x;
    if (format.bits == 8) return row[at];
    return word_value(row[2 * at] | row[2 * at + 1] << 8, format.interleaved);
}

/// Reference implementation: the integer formula, pixel by pixel. Tests and benchmarks compare with it.
inline void yuv_to_image_reference(const HostYuv<const std::uint8_t>& picture, HostView<std::uint8_t> image) {
    const auto& info = picture.info;
    const auto by = from_yuv_coefficients(info.coding, info.format.bits);
    const int bits = info.format.bits;
    const bool halved_x = info.format.chroma != ChromaSampling::s444;
    const bool halved_y = info.format.chroma == ChromaSampling::s420;
    for (int frame = 0; frame < info.frames; ++frame)
        for (int y = 0; y < info.height; ++y)
            for (int x = 0; x < info.width; ++x) {
                auto* pixel = image.row(frame, y) + x * image.shape().channels;
                const int luma =
                    rounded_product(luma_15(yuv_sample(picture, 0, frame, y, x), bits), by.y) + by.y_offset;
                if (info.format.chroma == ChromaSampling::none || image.shape().channels == 1) {
                    for (int channel = 0; channel < image.shape().channels; ++channel)
                        pixel[channel] = held_byte(luma >> from_yuv_shift);
                    continue;
                }
                // Bilinear interpolation of chroma between its sites, in sixteenths.
                const auto rows = chroma_taps(y, halved_y, info.siting.centred_y);
                const auto columns = chroma_taps(x, halved_x, info.siting.centred_x);
                int chroma[2];
                for (int component = 1; component <= 2; ++component) {
                    const auto at = [&](int row, int column) {
                        return yuv_sample(picture, component, frame, held_index(row, info.chroma_height()),
                                          held_index(column, info.chroma_width()));
                    };
                    const int sixteenths =
                        rows.first_weight * (columns.first_weight * at(rows.first, columns.first) +
                                             columns.second_weight * at(rows.first, columns.second)) +
                        rows.second_weight * (columns.first_weight * at(rows.second, columns.first) +
                                              columns.second_weight * at(rows.second, columns.second));
                    chroma[component - 1] = (sixteenths << (12 - bits)) - 32768;
                }
                const auto [u, v] = chroma;
                pixel[0] = held_byte((luma + rounded_product(u, by.b_u)) >> from_yuv_shift);
                pixel[1] =
                    held_byte((luma + rounded_product(u, by.g_u) + rounded_product(v, by.g_v)) >> from_yuv_shift);
                pixel[2] = held_byte((luma + rounded_product(v, by.r_v)) >> from_yuv_shift);
            }
}

}  // namespace framewire
