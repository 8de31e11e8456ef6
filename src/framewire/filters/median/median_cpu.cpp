#include "framewire/filters/median/median.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace framewire {
namespace {

// One channel of one row by a histogram that slides along it (Huang, Yang and Tang 1979).
void histogram_median_row(HostView<const std::uint8_t> in, int frame, int y, int channel, const MedianParameters& parameters,
                          std::uint8_t* out) {
    const auto& shape = in.shape();
    const int radius = parameters.size / 2, middle = parameters.size * parameters.size / 2;
    std::array<int, 256> counts{};
    const auto add_column = [&](int x, int times) {
        const int from_x = border_index(x, shape.width, parameters.border);
        for (int dy = -radius; dy <= radius; ++dy) {
            const int from_y = border_index(y + dy, shape.height, parameters.border);
            counts[from_x < 0 || from_y < 0 ? 0 : in.row(frame, from_y)[from_x * shape.channels + channel]] += times;
        }
    };
    for (int x = -radius; x < radius; ++x) add_column(x, 1);
    for (int x = 0; x < shape.width; ++x) {
        add_column(x + radius, 1);
        int median = 0;
        for (int below = counts[0]; below <= middle; below += counts[static_cast<std::size_t>(median)]) ++median;
        out[x * shape.channels + channel] = static_cast<std::uint8_t>(median);
        add_column(x - radius, -1);
    }
}

}  // namespace

void Median::run(const FilterImages<MemorySpace::host>& images) const {
    validate(images.in, shape_, "median's image");
    validate(images.out, shape_, "median's result");
    executor_->pool().for_chunks(shape_.rows(), 1, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        for (auto row = begin; row < end; ++row)
            for (int channel = 0; channel < shape_.channels; ++channel)
                histogram_median_row(images.in, static_cast<int>(row / shape_.height),
                                     static_cast<int>(row % shape_.height), channel, parameters_,
                                     images.out.batch_row(row));
    });
}

}  // namespace framewire
