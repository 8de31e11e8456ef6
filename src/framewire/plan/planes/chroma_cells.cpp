#include "framewire/plan/planes/chroma_cells.hpp"
#include "framewire/colour/yuv.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace framewire {
namespace {

// Adds to the weight of one of consecutive samples, of which the first one is `taps.first`.
void add_weight(ExactTaps& taps, int sample, double weight) {
    const auto at = static_cast<std::size_t>(sample - taps.first);
    taps.weights.resize(std::max(taps.weights.size(), at + 1));
    taps.weights[at] += weight;
}

}  // namespace

ChromaCells chroma_cells(int cell_px, int pixels, bool halved, bool centred) {
    const int samples = halved ? (pixels + 1) / 2 : pixels, cells = (pixels + cell_px - 1) / cell_px;
    const auto to_cell = [=](int cell) {
        const int first = cell * cell_px, last = std::min(first + cell_px, pixels) - 1;
        ExactTaps taps{held_index(chroma_taps(first, halved, centred).first, samples), {}};
        for (int pixel = first; pixel <= last; ++pixel) {
            const auto of = chroma_taps(pixel, halved, centred);
            for (const auto& [at, quarters] : {std::pair{of.first, of.first_weight}, {of.second, of.second_weight}})
                if (quarters) add_weight(taps, held_index(at, samples), quarters / 4.0 / (last - first + 1));
        }
        return taps;
    };
    const auto from_cell = [=](int sample) {
        const auto made_of = pixel_taps(sample, halved, centred);
        const auto cell_of = [=](int pixel) { return held_index(pixel, pixels) / cell_px; };
        ExactTaps taps{cell_of(made_of.first), {}};
        for (int index = 0; index < 3; ++index)
            if (made_of.weights[index]) add_weight(taps, cell_of(made_of.first + index), made_of.weights[index] / 4.0);
        return taps;
    };
    return {{samples, cells, to_cell}, {cells, samples, from_cell}};
}

}  // namespace framewire
