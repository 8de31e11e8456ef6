#include "framewire/filters/window.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace framewire {
namespace {

// Pads a row pixel by pixel; used only for the few pixels outside the row.
void pad_pixels(const std::uint8_t* row, int width, int channels, int begin, int end, Border border,
                std::uint8_t* out) {
    for (int x = begin; x < end; ++x) {
        const int from = border_index(x, width, border);
        for (int channel = 0; channel < channels; ++channel)
            *out++ = from < 0 ? std::uint8_t{0} : row[from * channels + channel];
    }
}

}  // namespace

ParameterInfo border_parameter() {
    return {.name = "border",
            .help =
                "pixels outside the image: mirrored without repeating the edge (reflect101), nearest pixel (replicate) "
                "or black (zero)"};
}

// Copies the pixels inside the row at once and maps only those outside one by one.
void pad_row_part(const std::uint8_t* row, int width, int channels, int begin, int end, Border border,
                  std::uint8_t* padded) {
    const auto bytes = [=](int pixels) {
        return static_cast<std::size_t>(pixels) * static_cast<std::size_t>(channels);
    };
    if (!row) {
        std::memset(padded, 0, bytes(end - begin));
        return;
    }
    const int inside_begin = std::clamp(begin, 0, width), inside_end = std::clamp(end, inside_begin, width);
    const int left_end = std::min(end, inside_begin), right_begin = std::max(begin, inside_end);
    pad_pixels(row, width, channels, begin, left_end, border, padded);
    std::memcpy(padded + bytes(inside_begin - begin), row + inside_begin * channels, bytes(inside_end - inside_begin));
    pad_pixels(row, width, channels, right_begin, end, border, padded + bytes(right_begin - begin));
}

}  // namespace framewire
