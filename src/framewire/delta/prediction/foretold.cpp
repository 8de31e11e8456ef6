#include "framewire/delta/prediction/foretold.hpp"

#include <algorithm>

namespace framewire::delta {

void ForetoldPart::move(HostView<const std::uint8_t> before, int x, int y, MotionVector vector) {
    const auto& shape = before.shape();
    const int channels = shape.channels;
    // Whole pixels round down, so that fractions are 0 to 3.
    const int fraction_x = vector.x & (quarters - 1), fraction_y = vector.y & (quarters - 1);
    const int from_x = x + (vector.x - fraction_x) / quarters - 1, from_y = y + (vector.y - fraction_y) / quarters - 1;
    std::array<std::int64_t, side + 1> columns;
    for (int i = 0; i <= side; ++i)
        columns[static_cast<std::size_t>(i)] = std::int64_t{std::clamp(from_x + i, 0, shape.width - 1)} * channels;
    auto* sample = samples_.data();
    for (int row = 0; row < side; ++row) {
        const auto* upper = before.row(0, std::clamp(from_y + row, 0, shape.height - 1));
        const auto* lower = before.row(0, std::clamp(from_y + row + 1, 0, shape.height - 1));
        for (int column = 0; column < side; ++column, sample += 3) {
            const auto left = columns[static_cast<std::size_t>(column)],
                       right = columns[static_cast<std::size_t>(column) + 1];
            for (int channel = 0; channel < channels; ++channel) {
                const int above = upper[left + channel] * (quarters - fraction_x) + upper[right + channel] * fraction_x;
                const int below = lower[left + channel] * (quarters - fraction_x) + lower[right + channel] * fraction_x;
                sample[channel] =
                    static_cast<std::uint8_t>((above * (quarters - fraction_y) + below * fraction_y + 8) / 16);
            }
        }
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
