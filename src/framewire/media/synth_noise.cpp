#include "framewire/media/synth_noise.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/media/synth.hpp"

#include <cstddef>

// This file is compiled with -O3, so that the compiler vectorizes the loop.

namespace framewire::synth {
namespace {

// Computes one row: out = clamp(clean + noise).
void add_row(const std::uint8_t* __restrict clean, const std::int8_t* __restrict noise, std::uint8_t* __restrict out,
             std::ptrdiff_t bytes) {
    for (std::ptrdiff_t at = 0; at < bytes; ++at) {
        const auto value = static_cast<std::int16_t>(clean[at] + noise[at]);
        out[at] = static_cast<std::uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
    }
}

}  // namespace

SensorNoise::SensorNoise(std::uint64_t seed, std::int64_t sigma_thousandths) : seed_(hash(seed, 30)) {
    if (sigma_thousandths == 0) return;
    table_.resize(noise_places + std::size_t{max_side_px} * 3);
    for (std::size_t place = 0; place < table_.size(); ++place) {
        // The sum of twelve uniform 16-bit numbers is approximately normal (Irwin-Hall), with a standard deviation of
        // 65536.
        std::int64_t sum = -6 * 65535;
        for (std::uint64_t part = 0; part < 3; ++part) {
            const auto bits = hash(seed_ + place * 3 + part);
            sum += static_cast<std::int64_t>((bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) +
                                             (bits >> 48));
        }
        const auto value = floor_divide(sum * sigma_thousandths + 500 * 65536, 1000 * 65536);
        table_[place] = static_cast<std::int8_t>(std::clamp<std::int64_t>(value, -127, 127));
    }
}

// Adds the noise of a frame. Each row starts at a hashed position of the table: frames differ although the table is
// made only once, and rows can be computed in any order.
void SensorNoise::add(HostView<const std::uint8_t> clean, std::int64_t frame, HostView<std::uint8_t> out) const {
    if (table_.empty()) {
        copy(clean, out);
        return;
    }
    const auto& shape = clean.shape();
    for (int y = 0; y < shape.height; ++y) {
        const auto place = hash(seed_, static_cast<std::uint64_t>(frame), static_cast<std::uint64_t>(y)) % noise_places;
        add_row(clean.row(0, y), table_.data() + place, out.row(0, y), shape.row_bytes());
    }
}

}  // namespace framewire::synth
