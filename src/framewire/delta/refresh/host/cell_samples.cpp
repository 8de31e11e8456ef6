// Running means of cells as sums of 16 bits per byte. At most 64 samples of 255 fit; when there are that many, all
// sums are halved, so that older samples fade out.

#include "framewire/delta/refresh/host/cell_samples.hpp"

#include "framewire/delta/refresh/rest_formulas.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace framewire::delta {
namespace {

// With a fixed length and no aliasing, the compiler vectorizes the loops below.
constexpr int run = 16;

void add_samples(const std::uint8_t* __restrict bytes, std::uint16_t* __restrict sums) {
    for (std::size_t i = 0; i < run; ++i) sums[i] = static_cast<std::uint16_t>(sums[i] + bytes[i]);
}

void mean_of_samples(const std::uint16_t* sums, const RestMean& means, std::uint8_t* out) {
    std::array<std::uint16_t, run> in;
    std::array<std::uint8_t, run> mean;
    std::memcpy(in.data(), sums, sizeof(in));
    for (std::size_t i = 0; i < run; ++i) mean[i] = means.of(in[i]);
    std::memcpy(out, mean.data(), sizeof(mean));
}

}  // namespace

CellSamples::CellSamples(const Shape& shape)
    : grid_(shape),
      channels_(shape.channels),
      sums_(static_cast<std::size_t>(grid_.count()) * CellGrid::side *
            static_cast<std::size_t>(CellGrid::side * channels_) * sizeof(std::uint16_t)),
      counts_(static_cast<std::size_t>(grid_.count())) {}

std::uint16_t* CellSamples::sums(int cell, int row) const {
    return sums_.as<std::uint16_t>() + (std::int64_t{cell} * CellGrid::side + row) * CellGrid::side * channels_;
}

void CellSamples::condense(int cell) {
    std::array<std::uint8_t, CellGrid::most_row_bytes> means;
    const auto place = grid_.place(cell);
    for (int row = 0; row < place.height; ++row) {
        mean(cell, row, means.data());
        std::copy_n(means.data(), place.width * channels_, sums(cell, row));
    }
    counts_[static_cast<std::size_t>(cell)] = 1;
}

void CellSamples::add(int cell, HostView<const std::uint8_t> frame) {
    const auto place = grid_.place(cell);
    auto& count = counts_[static_cast<std::size_t>(cell)];
    const int bytes = place.width * channels_;
    // The first sample overwrites the sums, so that clearing a cell need not touch them.
    const bool first = count == 0, halve = count == most_rest_samples;
    for (int row = 0; row < place.height; ++row) {
        const auto* in = frame.row(0, place.y + row) + std::int64_t{place.x} * channels_;
        auto* sum = sums(cell, row);
        if (first) {
            std::copy_n(in, bytes, sum);
            continue;
        }
        if (halve) std::transform(sum, sum + bytes, sum, halved_sum);
        int i = 0;
        for (; i + run <= bytes; i += run) add_samples(in + i, sum + i);
        for (; i < bytes; ++i) sum[i] = static_cast<std::uint16_t>(sum[i] + in[i]);
    }
    count = static_cast<std::uint8_t>(samples_with_next(count));
}

void CellSamples::mean(int cell, int row, std::uint8_t* out) const {
    const RestMean means(count(cell));
    const auto* sum = sums(cell, row);
    const int bytes = grid_.place(cell).width * channels_;
    int i = 0;
    for (; i + run <= bytes; i += run) mean_of_samples(sum + i, means, out + i);
    for (; i < bytes; ++i) out[i] = means.of(sum[i]);
}

}  // namespace framewire::delta
