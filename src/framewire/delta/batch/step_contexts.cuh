#pragma once

// Only for .cu files: what of a block's steps is known, in shared memory, and the symbols of a pixel.

#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/blocks/step_formulas.hpp"
#include "framewire/delta/entropy/chain.cuh"

#include <cstdint>

namespace framewire::delta {

FRAMEWIRE_HOST_DEVICE constexpr int coded_channel(int i, int channels) {
    return channels == 1 ? 0 : i == 0 ? 1 : i == 1 ? 0 : 2;
}

/// How many of a pixel's channels change, as format.md's E (none, some, all), and D << 2: which way.
struct PixelTraits {
    std::uint8_t bits;

    __device__ int extent() const { return bits & 3; }
    __device__ int direction() const { return bits >> 2; }
};

/// The steps of a block of 64x64 pixels and what they say. Nothing outside the block counts.
template <int channels>
struct BlockSteps {
    std::int16_t steps[channels][block_side * block_side];
    std::uint8_t traits[block_side * block_side];

    FRAMEWIRE_HOST_DEVICE static constexpr int at(int x, int y) { return y * block_side + x; }

    __device__ int step(int x, int y, int channel) const { return x < 0 || y < 0 ? 0 : steps[channel][at(x, y)]; }
    __device__ PixelTraits traits_at(int x, int y) const {
        return {x < 0 || y < 0 || x >= block_side ? std::uint8_t{0} : traits[at(x, y)]};
    }
    /// What the steps of a pixel say.
    template <class Steps>
    static __device__ std::uint8_t traits_of(const Steps& of) {
        int up = 0, down = 0;
#pragma unroll
        for (int channel = 0; channel < channels; ++channel) {
            up += of[channel] > 0;
            down += of[channel] < 0;
        }
        const int extent = up + down == 0 ? 0 : up + down == channels ? 2 : 1;
        return static_cast<std::uint8_t>(extent | (up != 0) << 2 | (down != 0) << 3);
    }
};

/// What the neighbours of a pixel tell of whether it changes and how.
struct PixelNeighbours {
    PixelTraits left, above, above_left, above_right;
    bool second;

    __device__ int corners() const { return (above_left.bits != 0) + (above_right.bits != 0); }
    __device__ int pattern_model() const {
        const int of_left = left.bits ? left.direction() : above_left.direction();
        const int of_above = above.bits ? above.direction() : above_right.direction();
        return of_left + 4 * of_above + 16 * (left.extent() == 2 || above.extent() == 2);
    }
};

/// `Block`: BlockSteps, or what has its step() and traits_at().
template <class Block>
__device__ PixelNeighbours neighbours_of(const Block& block, int x, int y) {
    // What lies above and to the right is known only where its part came before.
    const bool unknown = x % part_side == part_side - 1 && y % part_side != 0;
    return {block.traits_at(x - 1, y), block.traits_at(x, y - 1), block.traits_at(x - 1, y - 1),
            unknown ? PixelTraits{0} : block.traits_at(x + 1, y - 1),
            (block.traits_at(x - 2, y).bits | block.traits_at(x, y - 2).bits) != 0};
}

/// A number of `count` bits as a symbol, as in class Symbols.
__device__ inline std::uint16_t bits_entry(int value, int count) {
    return static_cast<std::uint16_t>(step_models::trained_symbols + (1 << count) + value);
}
/// step_models::bits_of().
__device__ inline int bits_of_entry(std::uint32_t entry) {
    return entry > step_models::trained_symbols ? 31 - __clz(static_cast<int>(entry - step_models::trained_symbols))
                                                : 0;
}

/// The symbols of a pixel, at most 2 and 2 for each channel.
template <int channels>
struct PixelEntries {
    static constexpr int most = 2 + 2 * channels;
    std::uint16_t of[most];  ///< whether it changes, the pattern, and for each channel a magnitude and bits or 0
    bool changes;

    __device__ int count() const {
        int entries = 1;
        if (changes)
#pragma unroll
            for (int i = 1; i < most; ++i) entries += of[i] != 0;
        return entries;
    }
    __device__ void write(std::uint16_t* to) const {
        *to++ = of[0];
        if (!changes) return;
#pragma unroll
        for (int i = 1; i < most; ++i)
            if (of[i]) *to++ = of[i];
    }
    /// Adds what they cost, four sums of 16 bits as in step_costs().
    __device__ unsigned long long cost(const std::uint64_t* costs) const {
        unsigned long long sum = __ldg(reinterpret_cast<const unsigned long long*>(costs + of[0]));
        if (changes)
#pragma unroll
            for (int i = 1; i < most; ++i)
                if (of[i]) sum += __ldg(reinterpret_cast<const unsigned long long*>(costs + of[i]));
        return sum;
    }
};

/// The pattern of a pixel's steps.
template <int channels>
__device__ int pattern_of(const int (&own)[channels]) {
    int pattern = 0, weight = channels == 1 ? 13 : 1;
#pragma unroll
    for (int channel = 0; channel < channels; ++channel, weight *= 3)
        pattern += own[channel] > 0 ? weight : own[channel] < 0 ? 2 * weight : 0;
    return pattern;
}
/// The symbol of whether a pixel changes.
__device__ inline std::uint16_t changed_entry(const PixelNeighbours& near, bool changes, Foretold by, int slope) {
    const int model = changed_model(near.left.extent(), near.above.extent(), near.corners(), near.second, by, slope);
    return static_cast<std::uint16_t>(first_symbol<step_models::changed>(model) + changes);
}
/// The symbol of how it does.
template <int channels>
__device__ std::uint16_t pattern_entry(const PixelNeighbours& near, int pattern, const std::uint8_t* pattern_ranks) {
    const int model = near.pattern_model();
    return static_cast<std::uint16_t>(channels == 1
                                          ? first_symbol<step_models::sign>(model) + (pattern == 26)
                                          : first_symbol<step_models::pattern>(model) + __ldg(pattern_ranks + pattern));
}

/// The symbols of the pixel (x, y) of a block whose steps are there, those of what was coded before it too.
template <int channels, class Block>
__device__ PixelEntries<channels> pixel_entries(const Block& block, int x, int y, Foretold by, int slope, bool fine,
                                                const std::uint8_t* pattern_ranks) {
    const auto near = neighbours_of(block, x, y);
    PixelEntries<channels> entries{};
    int own[channels];
#pragma unroll
    for (int channel = 0; channel < channels; ++channel) own[channel] = block.step(x, y, channel);
    const int pattern = pattern_of(own);
    entries.changes = pattern != 0;
    entries.of[0] = changed_entry(near, entries.changes, by, slope);
    if (!entries.changes) return entries;
    entries.of[1] = pattern_entry<channels>(near, pattern, pattern_ranks);
    int before = -1, steps_before = 0;
#pragma unroll
    for (int i = 0; i < channels; ++i) {
        const int channel = coded_channel(i, channels);
        if (!own[channel]) continue;
        const int sign = own[channel] > 0 ? 1 : -1;
        const auto context =
            magnitude_context([&](int right, int down, int of) { return block.step(x + right, y + down, of); }, channel,
                              sign, before, steps_before, i == 0, fine);
        const auto token = token_of(fold(own[channel] * sign, context.expected));
        entries.of[2 + 2 * i] =
            static_cast<std::uint16_t>(first_symbol<step_models::magnitude>(context.model) + token.symbol);
        entries.of[3 + 2 * i] = token.bits ? bits_entry(token.value, token.bits) : std::uint16_t{0};
        before = channel;
        steps_before = own[channel];
    }
    return entries;
}

}  // namespace framewire::delta
