#include "framewire/plan/planes/chroma_window.hpp"
#include "framewire/colour/yuv.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace framewire {
namespace {

// Returns the taps of one sample of the result. Pixels mirrored into the image are nearer than those outside,
// so no sample is further away than `reach`.
ExactTaps taps_of(const SeparableWindow& window, int pixels, int samples, bool halved, bool centred, int sample) {
    const int reach = static_cast<int>(window.weights.size()) + 2;
    const int first = std::max(sample - reach, 0), last = std::min(sample + reach, samples - 1);
    ExactTaps taps{first, std::vector<double>(static_cast<std::size_t>(last - first + 1))};
    const auto add_pixel = [&](int pixel, double weight) {
        const auto of = chroma_taps(pixel, halved, centred);
        for (const auto& [at, quarters] : {std::pair{of.first, of.first_weight}, {of.second, of.second_weight}})
            if (quarters)
                taps.weights[static_cast<std::size_t>(held_index(at, samples) - first)] += weight * quarters / 4;
    };
    const auto made_of = pixel_taps(sample, halved, centred);
    for (int index = 0; index < 3; ++index) {
        if (made_of.weights[index] == 0) continue;
        const int pixel = held_index(made_of.first + index, pixels) - window.before;
        for (std::size_t tap = 0; tap < window.weights.size(); ++tap)
            add_pixel(border_index(pixel + static_cast<int>(tap), pixels, window.border),
                      made_of.weights[index] / 4.0 * window.weights[tap]);
    }
    return taps;
}

}  // namespace

AxisTaps chroma_window(const SeparableWindow& window, int pixels, bool halved, bool centred) {
    const int samples = halved ? (pixels + 1) / 2 : pixels;
    return {samples, samples, [=](int sample) { return taps_of(window, pixels, samples, halved, centred, sample); }};
}

}  // namespace framewire
