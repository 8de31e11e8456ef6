#include "framewire/delta/refresh/block_samples.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace framewire::delta {
namespace {

// (sum + n / 2) / n for up to 64 samples is a product with this many bits behind the point: 64 * (64 * 255 + 32) is
// less than 2^20, so nothing is off.
constexpr int reciprocal_bits = 20;

// Fixed lengths become vector instructions.
constexpr int run = 64;

void add_run(const std::uint8_t* bytes, std::uint16_t* sums) {
    std::array<std::uint8_t, run> in;
    std::array<std::uint16_t, run> out;
    std::memcpy(in.data(), bytes, sizeof(in));
    std::memcpy(out.data(), sums, sizeof(out));
    for (std::size_t i = 0; i < run; ++i) out[i] = static_cast<std::uint16_t>(out[i] + in[i]);
    std::memcpy(sums, out.data(), sizeof(out));
}

}  // namespace

BlockSamples::BlockSamples(const Shape& shape)
    : grid_(shape),
      channels_(shape.channels),
      sums_(static_cast<std::size_t>(grid_.count()) * block_side * static_cast<std::size_t>(block_side * channels_) *
            sizeof(std::uint16_t)),
      counts_(static_cast<std::size_t>(grid_.count())) {}

std::uint16_t* BlockSamples::sums(int block, int row) const {
    return sums_.as<std::uint16_t>() + (std::int64_t{block} * block_side + row) * block_side * channels_;
}

void BlockSamples::condense(int block) {
    std::array<std::uint8_t, std::size_t{block_side} * 3> means;
    const auto place = grid_.place(block);
    for (int row = 0; row < place.height; ++row) {
        mean(block, row, means.data());
        std::copy_n(means.data(), place.width * channels_, sums(block, row));
    }
    counts_[static_cast<std::size_t>(block)] = 1;
}

void BlockSamples::add(int block, HostView<const std::uint8_t> frame) {
    const auto place = grid_.place(block);
    auto& count = counts_[static_cast<std::size_t>(block)];
    const int bytes = place.width * channels_;
    const bool first = count == 0, halve = count == most;
    for (int row = 0; row < place.height; ++row) {
        const auto* in = frame.row(0, place.y + row) + std::int64_t{place.x} * channels_;
        auto* sum = sums(block, row);
        if (first) {
            std::copy_n(in, bytes, sum);
            continue;
        }
        if (halve) std::transform(sum, sum + bytes, sum, [](std::uint16_t of) { return std::uint16_t((of + 1) / 2); });
        int i = 0;
        for (; i + run <= bytes; i += run) add_run(in + i, sum + i);
        for (; i < bytes; ++i) sum[i] = static_cast<std::uint16_t>(sum[i] + in[i]);
    }
    count = static_cast<std::uint8_t>((halve ? most / 2 : count) + 1);
}

void BlockSamples::mean(int block, int row, std::uint8_t* out) const {
    const auto count = static_cast<std::uint32_t>(counts_[static_cast<std::size_t>(block)]);
    const std::uint32_t factor = ((1u << reciprocal_bits) + count - 1) / count, half = count / 2;
    const auto* sum = sums(block, row);
    const int bytes = grid_.place(block).width * channels_;
    for (int i = 0; i < bytes; ++i) out[i] = static_cast<std::uint8_t>((sum[i] + half) * factor >> reciprocal_bits);
}

}  // namespace framewire::delta
