// Predictions of samples, from another position of the previous picture or from neighbours in the block (format.md,
// "Prediction"). The decoder and the encoder share this code, so they cannot differ.

#include "framewire/delta/prediction/foretold.hpp"

#include "framewire/delta/prediction/motion/motion_cost.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace framewire::delta {

void ForetoldPart::move(HostView<const std::uint8_t> before, int x, int y, MotionVector vector) {
    const auto& shape = before.shape();
    channels_ = shape.channels;
    // The whole pixels round down, so that the fractions are 0 to 3.
    const int fraction_x = vector.x & (quarters - 1), fraction_y = vector.y & (quarters - 1);
    const int from_x = x + (vector.x - fraction_x) / quarters - 1, from_y = y + (vector.y - fraction_y) / quarters - 1;
    constexpr int rows = side + 1, row_bytes = 48;  // one row more for interpolation, and padding for whole vectors
    // Inside the picture, rows are read in place; otherwise they are copied with the nearest pixel repeated.
    const bool is_inside = from_x >= 0 && from_y >= 0 && from_y + rows <= shape.height &&
                           std::int64_t{from_x} * channels_ + row_bytes <= shape.row_bytes();
    std::array<std::uint8_t, static_cast<std::size_t>(rows * row_bytes)> window;
    const auto* from = window.data();
    auto stride = std::int64_t{row_bytes};
    if (is_inside) {
        from = before.row(0, from_y) + std::int64_t{from_x} * channels_;
        stride = before.row_stride_bytes();
    } else {
        for (int row = 0; row < rows; ++row) {
            const auto* held = before.row(0, std::clamp(from_y + row, 0, shape.height - 1));
            auto* to = &window[static_cast<std::size_t>(row * row_bytes)];
            for (int column = 0; column <= side; ++column)
                std::memcpy(to + column * channels_,
                            held + std::int64_t{std::clamp(from_x + column, 0, shape.width - 1)} * channels_,
                            static_cast<std::size_t>(channels_));
        }
    }
    // Whole pixels need no interpolation.
    if (fraction_x == 0 && fraction_y == 0) {
        for (int row = 0; row < side; ++row)
            std::memcpy(&samples_[static_cast<std::size_t>(row * part_row)], from + row * stride, part_row);
    } else {
        interpolate(from, stride, channels_, fraction_x, fraction_y, side, samples_.data());
    }
}

ForetoldInside foretell_inside(HostView<const std::uint8_t> picture, const BlockPlace& block, int x, int y) {
    const int channels = picture.shape().channels;
    const auto* here = picture.row(0, block.y + y) + std::int64_t{block.x + x} * channels;
    const auto* above = y ? picture.row(0, block.y + y - 1) + std::int64_t{block.x + x} * channels : nullptr;
    ForetoldInside foretold{};
    for (int channel = 0; channel < channels; ++channel) {
        int sample = 128;
        if (x && y) {
            const int left = here[channel - channels], up = above[channel], corner = above[channel - channels];
            sample = std::clamp(left + up - corner, std::min(left, up), std::max(left, up));
            if (channel == slope_channel(channels))
                foretold.rise = std::max(std::abs(left - corner), std::abs(up - corner));
        } else if (x) {
            sample = here[channel - channels];
        } else if (y) {
            sample = above[channel];
        }
        foretold.samples[channel] = sample;
    }
    return foretold;
}

}  // namespace framewire::delta
