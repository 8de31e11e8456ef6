#include "framewire/filters/border.hpp"

#include <cstring>

namespace framewire {
namespace {

void pad_pixels(const std::uint8_t* row, int width, int channels, int begin, int end, Border border, std::uint8_t* out) {
    for (int x = begin; x < end; ++x) {
        const int from = border_index(x, width, border);
        for (int channel = 0; channel < channels; ++channel)
            *out++ = from < 0 ? std::uint8_t{0} : row[from * channels + channel];
    }
}

}  // namespace

ParameterInfo border_parameter() {
    return {.name = "border",
            .help = "outside the image: mirrored without repeating its edge, its nearest pixel, or black",
            .type = ParameterInfo::Type::choice,
            .default_value = "reflect101",
            .choices = {"reflect101", "replicate", "zero"}};
}

Border border_from(const ParameterValues& values) {
    const auto& text = values.text("border");
    if (text == "reflect101") return Border::reflect101;
    if (text == "replicate") return Border::replicate;
    if (text == "zero") return Border::zero;
    fail(ErrorCode::internal, "parameter border holds '{}', which was not checked", text);
}

void pad_row(const std::uint8_t* row, int width, int channels, int left_px, int right_px, Border border,
             std::uint8_t* padded) {
    const auto row_bytes = static_cast<std::size_t>(width) * channels;
    const auto left_bytes = static_cast<std::size_t>(left_px) * channels;
    if (!row) {
        std::memset(padded, 0, left_bytes + row_bytes + static_cast<std::size_t>(right_px) * channels);
        return;
    }
    pad_pixels(row, width, channels, -left_px, 0, border, padded);
    std::memcpy(padded + left_bytes, row, row_bytes);
    pad_pixels(row, width, channels, width, width + right_px, border, padded + left_bytes + row_bytes);
}

}  // namespace framewire
