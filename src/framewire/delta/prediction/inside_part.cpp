// Quantization of sub-blocks that are predicted from their neighbours. The neighbours are reconstructed samples, so
// the pixels must be done one after the other. A window with the row above and the column to the left holds everything
// that they depend on.

#include "framewire/delta/prediction/inside_part.hpp"

#include "framewire/delta/prediction/foretold.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace framewire::delta {
namespace {

constexpr int window_margin = 8;  // bytes, before a row's first pixel
constexpr int window_row = window_margin + part_row;
// Reconstruction of a sub-block with the row above it and the pixel to the left of each row.
using Window = std::array<std::uint8_t, static_cast<std::size_t>((part_side + 1) * window_row)>;

template <int channels>
void quantize_inside_of(const Quantizer& quantizer, const PartSamples& camera, bool has_left, bool has_above, int width,
                        int height, Window& window, QuantizedPart& part) {
    constexpr int slope_at = channels == 3 ? 1 : 0;
    for (int y = 0; y < height; ++y) {
        auto* pixel = &window[static_cast<std::size_t>((y + 1) * window_row + window_margin)];
        const auto row = static_cast<std::size_t>(y * part_row);
        std::uint32_t changed = 0;
        for (int x = 0; x < width; ++x, pixel += channels) {
            const auto at = row + static_cast<std::size_t>(x * channels);
            const bool any_left = has_left || x > 0, any_above = has_above || y > 0;
            int rise = 0;
            for (int channel = 0; channel < channels; ++channel) {
                const int left = pixel[channel - channels], above = pixel[channel - window_row],
                          corner = pixel[channel - channels - window_row];
                int foretold = std::clamp(left + above - corner, std::min(left, above), std::max(left, above));
                if (any_left && any_above) {
                    if (channel == slope_at) rise = std::max(std::abs(left - corner), std::abs(above - corner));
                } else {
                    foretold = any_left ? left : any_above ? above : 128;
                }
                const auto sample = at + static_cast<std::size_t>(channel);
                const int steps = quantizer.steps(camera[sample], foretold);
                part.steps[sample] = static_cast<std::int16_t>(steps);
                changed |= static_cast<std::uint32_t>(steps != 0) << (x * channels + channel);
                pixel[channel] = quantizer.sample(foretold, steps);
            }
            part.slopes[at + slope_at] = static_cast<std::uint8_t>(slope_of(rise, quantizer.threshold()));
        }
        part.changed[static_cast<std::size_t>(y)] = changed;
        std::memcpy(&part.samples[row], pixel - width * channels, static_cast<std::size_t>(width * channels));
    }
}

}  // namespace

void quantize_inside(const Quantizer& quantizer, const PartSamples& camera, HostView<const std::uint8_t> done,
                     const BlockPlace& block, int left, int top, QuantizedPart& part) {
    const int channels = done.shape().channels;
    const int width = std::min(part_side, block.width - left), height = std::min(part_side, block.height - top);
    Window window;
    const auto at = [&](int y) { return done.row(0, block.y + top + y) + std::int64_t{block.x + left} * channels; };
    const auto to = [&](int y) { return &window[static_cast<std::size_t>((y + 1) * window_row + window_margin)]; };
    // Pixels outside the block are loaded too, but the result does not depend on them.
    const auto take = [&](bool is_there, int y, int first, int count) {
        if (is_there)
            std::memcpy(to(y) + first, at(y) + first, static_cast<std::size_t>(count));
        else
            std::memset(to(y) + first, 0, static_cast<std::size_t>(count));
    };
    take(top > 0, -1, 0, width * channels);
    for (int y = -1; y < height; ++y) take(left > 0 && (top > 0 || y >= 0), y, -channels, channels);
    if (channels == 1)
        quantize_inside_of<1>(quantizer, camera, left > 0, top > 0, width, height, window, part);
    else
        quantize_inside_of<3>(quantizer, camera, left > 0, top > 0, width, height, window, part);
}

}  // namespace framewire::delta
