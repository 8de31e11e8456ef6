#pragma once

#include "framewire/colour/yuv.hpp"

#include <cstdint>
#include <cstring>

namespace framewire {

/// Computes the integer formula sample by sample, as the reference for tests and benchmarks.
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

/// Returns sample `x` of row `y` of a component: 0 is luma, 1 is U, 2 is V.
inline int yuv_sample(const HostYuv<const std::uint8_t>& picture, int component, int frame, int y, int x) {
    const auto& format = picture.info.format;
    // U and V alternate in an interleaved plane.
    const bool shared = format.interleaved && component > 0;
    const auto& plane = picture.planes[static_cast<std::size_t>(shared ? 1 : component)];
    const auto* row = plane.row(frame, y);
    const int at = shared ? 2 * x + component - 1 : x;
    if (format.bits == 8) return row[at];
    return word_value(row[2 * at] | row[2 * at + 1] << 8, format.interleaved);
}

/// Copies the samples of NV12 or P010 to planes one by one, as the reference for tests.
inline void deinterleave_reference(const HostYuv<const std::uint8_t>& from, const HostYuv<std::uint8_t>& to) {
    for (int component = 0; component < 3; ++component)
        for (int frame = 0; frame < to.info.frames; ++frame)
            for (int y = 0; y < to.info.plane_rows(component); ++y)
                for (int x = 0; x < (component ? to.info.chroma_width() : to.info.width); ++x) {
                    const int value = yuv_sample(from, component, frame, y, x);
                    auto* row = to.planes[static_cast<std::size_t>(component)].row(frame, y);
                    for (int byte = 0; byte < to.info.sample_bytes(); ++byte)
                        row[x * to.info.sample_bytes() + byte] = static_cast<std::uint8_t>(value >> (8 * byte));
                }
}

/// Computes the integer formula pixel by pixel, as the reference for tests and benchmarks.
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
