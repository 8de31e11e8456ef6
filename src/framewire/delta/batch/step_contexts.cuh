#pragma once

// Contexts and symbols of a pixel on the device, from the steps of its block in shared memory. For .cu files only. The
// formulas are those of format.md, "A pixel"; blocks/step_contexts.hpp has them for the CPU.

#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/blocks/step_formulas.hpp"
#include "framewire/delta/entropy/chain.cuh"

#include <cstdint>

namespace framewire::delta {

/// Returns the i-th channel in the order of coding: 1, 0, 2, or just 0 for gray.
FRAMEWIRE_HOST_DEVICE constexpr int coded_channel(int i, int channels) {
    return channels == 1 ? 0 : i == 0 ? 1 : i == 1 ? 0 : 2;
}

/// Summary of a pixel's steps: format.md's E (no, some or all channels change) in bits 0 and 1, its D (which directions
/// occur) above them.
struct PixelTraits {
    std::uint8_t bits;

    /// Returns E: 0, 1 or 2.
    __device__ int extent() const { return bits & 3; }
    /// Returns D: 0..3.
    __device__ int direction() const { return bits >> 2; }
};

/// Steps and traits of a block of 64x64 pixels. Pixels outside the block read as 0.
template <int channels>
struct BlockSteps {
    std::int16_t steps[channels][block_side * block_side];
    std::uint8_t traits[block_side * block_side];

    /// Returns the index of a pixel; coordinates within the block.
    FRAMEWIRE_HOST_DEVICE static constexpr int at(int x, int y) { return y * block_side + x; }

    /// Returns the step of a channel; 0 to the left of the block and above it.
    __device__ int step(int x, int y, int channel) const { return x < 0 || y < 0 ? 0 : steps[channel][at(x, y)]; }
    /// Returns the traits of a pixel; none outside the block.
    __device__ PixelTraits traits_at(int x, int y) const {
        return {x < 0 || y < 0 || x >= block_side ? std::uint8_t{0} : traits[at(x, y)]};
    }
    /// Returns the traits for `channels` steps.
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

/// Neighbourhood of a pixel, from which the models for its flag and its pattern follow.
struct PixelNeighbours {
    PixelTraits left, above, above_left, above_right;
    bool second;  ///< the pixel two to the left or the one two above changes

    /// Returns how many of the two upper corners change.
    __device__ int corners() const { return (above_left.bits != 0) + (above_right.bits != 0); }
    /// Returns the number of the pattern model, or of the sign model for gray.
    __device__ int pattern_model() const {
        const int of_left = left.bits ? left.direction() : above_left.direction();
        const int of_above = above.bits ? above.direction() : above_right.direction();
        return of_left + 4 * of_above + 16 * (left.extent() == 2 || above.extent() == 2);
    }
};

/// Returns the neighbourhood of the pixel (x, y). `Block` is BlockSteps or a type with the same step() and traits_at().
template <class Block>
__device__ PixelNeighbours neighbours_of(const Block& block, int x, int y) {
    // The sub-block to the right is coded later, so its pixels are unknown except in the row above the current
    // sub-block.
    const bool unknown = x % part_side == part_side - 1 && y % part_side != 0;
    return {block.traits_at(x - 1, y), block.traits_at(x, y - 1), block.traits_at(x - 1, y - 1),
            unknown ? PixelTraits{0} : block.traits_at(x + 1, y - 1),
            (block.traits_at(x - 2, y).bits | block.traits_at(x, y - 2).bits) != 0};
}

/// Returns the entry for a raw number of `count` bits, as class Symbols encodes it.
__device__ inline std::uint16_t bits_entry(int value, int count) {
    return static_cast<std::uint16_t>(step_models::trained_symbols + (1 << count) + value);
}
/// Returns the number of raw bits of an entry, 0 for symbols of trained models: step_models::bits_of() with a device
/// intrinsic.
__device__ inline int bits_of_entry(std::uint32_t entry) {
    return entry > step_models::trained_symbols ? 31 - __clz(static_cast<int>(entry - step_models::trained_symbols))
                                                : 0;
}

/// Entries of one pixel in the order of coding: at most 2, and 2 more for each channel.
template <int channels>
struct PixelEntries {
    static constexpr int most = 2 + 2 * channels;
    std::uint16_t of[most];  ///< flag, pattern, and for each channel its magnitude and its raw bits; 0 if absent
    bool changes;            ///< if false, only of[0] counts

    /// Returns the number of entries present.
    __device__ int count() const {
        int entries = 1;
        if (changes)
#pragma unroll
            for (int i = 1; i < most; ++i) entries += of[i] != 0;
        return entries;
    }
    /// Writes the entries present, one after the other.
    __device__ void write(std::uint16_t* to) const {
        *to++ = of[0];
        if (!changes) return;
#pragma unroll
        for (int i = 1; i < most; ++i)
            if (of[i]) *to++ = of[i];
    }
    /// Returns the sum of the entries' costs: four sums of 16 bits, one per set of models, as in step_costs().
    __device__ unsigned long long cost(const std::uint64_t* costs) const {
        unsigned long long sum = __ldg(reinterpret_cast<const unsigned long long*>(costs + of[0]));
        if (changes)
#pragma unroll
            for (int i = 1; i < most; ++i)
                if (of[i]) sum += __ldg(reinterpret_cast<const unsigned long long*>(costs + of[i]));
        return sum;
    }
};

/// Returns the pattern of a pixel's steps: the sum of 3^c times 0, 1 (up) or 2 (down); gray counts as three equal
/// channels.
template <int channels>
__device__ int pattern_of(const int (&own)[channels]) {
    int pattern = 0, weight = channels == 1 ? 13 : 1;
#pragma unroll
    for (int channel = 0; channel < channels; ++channel, weight *= 3)
        pattern += own[channel] > 0 ? weight : own[channel] < 0 ? 2 * weight : 0;
    return pattern;
}
/// Returns the entry that says whether a pixel changes.
__device__ inline std::uint16_t changed_entry(const PixelNeighbours& near, bool changes, Foretold by, int slope) {
    const int model = changed_model(near.left.extent(), near.above.extent(), near.corners(), near.second, by, slope);
    return static_cast<std::uint16_t>(first_symbol<step_models::changed>(model) + changes);
}
/// Returns the entry for a changed pixel's pattern, or for its sign if gray.
template <int channels>
__device__ std::uint16_t pattern_entry(const PixelNeighbours& near, int pattern, const std::uint8_t* pattern_ranks) {
    const int model = near.pattern_model();
    return static_cast<std::uint16_t>(channels == 1
                                          ? first_symbol<step_models::sign>(model) + (pattern == 26)
                                          : first_symbol<step_models::pattern>(model) + __ldg(pattern_ranks + pattern));
}

/// Returns the entries of the pixel (x, y). The steps of this pixel and of all pixels coded before it must be in
/// `block`. `fine`: the step size is less than 3, or the block is a block of changes. `pattern_ranks`: table in device
/// memory.
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
