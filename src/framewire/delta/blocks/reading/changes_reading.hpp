#pragma once

#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/blocks/step_contexts.hpp"
#include "framewire/delta/blocks/step_formulas.hpp"
#include "framewire/delta/blocks/step_pixels.hpp"
#include "framewire/delta/entropy/models/models.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

// What reading blocks of changes looks up, so that little is left to do between one symbol and the next.

namespace framewire::delta {

/// What a pixel that is read tells: pattern_traits' extent, and from this bit on its direction.
inline constexpr int direction_bit = 2;

/// What of a block of changes is read so far, as its contexts need it. Nothing outside the block counts.
class ReadPixels {
public:
    /// What a pixel tells; from (-2, -2) on.
    std::uint8_t traits(int x, int y) const { return traits_[at(x, y)]; }
    /// The same of eight pixels, the first one's in the lowest byte.
    std::uint64_t row_traits(int x, int y) const {
        std::uint64_t eight;
        std::memcpy(&eight, &traits_[at(x, y)], sizeof(eight));
        return eight;
    }
    void set_row_traits(int x, int y, std::uint64_t eight) { std::memcpy(&traits_[at(x, y)], &eight, sizeof(eight)); }

    /// The steps of a pixel's channels, of 16 bits each, the first one's in the lowest.
    std::uint64_t& steps(int x, int y) { return steps_[at(x, y)]; }

    /// Makes a part what it was at first.
    void clear_part(int left, int top) {
        for (int y = top; y < top + part_side; ++y) {
            set_row_traits(left, y, 0);
            std::memset(&steps(left, y), 0, part_side * sizeof(std::uint64_t));
        }
    }

private:
    static constexpr std::size_t border = 2, stride = block_side + border + 1, size = stride * (block_side + border);
    static constexpr std::size_t at(int x, int y) {
        return static_cast<std::size_t>(y + 2) * stride + static_cast<std::size_t>(x + 2);
    }

    std::array<std::uint8_t, size> traits_{};
    std::array<std::uint64_t, size> steps_{};
};

/// What the pixels above say to those of a part's row, a byte for each.
struct RowAbove {
    static constexpr int second_bit = 32;

    std::uint64_t changed;  ///< to changed_model(), with second_bit where the second one above changes
    std::uint64_t corner;   ///< the traits of the one above to the left, in the upper four bits
    std::uint64_t above;    ///< those of the one above, and of the one to its right in the upper four bits
};
/// `above`, `second`: traits of the rows above; `left`, `right`: of the pixels beside the first of them.
inline RowAbove row_above(std::uint64_t above, std::uint64_t second, std::uint64_t left, std::uint64_t right) {
    constexpr std::uint64_t each = ~std::uint64_t{0} / 255;
    const auto ones = [](std::uint64_t traits) { return (traits | traits >> 1) & each; };
    const auto to_left = above << 8 | left, to_right = above >> 8 | right << 56;
    return {3 * (above & 3 * each) + 9 * (ones(to_left) + ones(to_right)) + RowAbove::second_bit * ones(second),
            to_left << 4, above | to_right << 4};
}

/// The first symbol of the model of whether a pixel changes, without what the one to its left says: by RowAbove's byte.
inline constexpr auto changed_by_above = [] {
    std::array<std::uint16_t, 2 * RowAbove::second_bit> first{};
    for (int i = 0; i < 2 * RowAbove::second_bit; ++i) {
        const int model = changed_model(0, 0, 0, i / RowAbove::second_bit != 0, Foretold::differences, 0);
        first[static_cast<std::size_t>(i)] =
            static_cast<std::uint16_t>(step_models::changed.at(model + i % RowAbove::second_bit));
    }
    return first;
}();

/// pattern_model() is what these two say: the pixel to the left or else the one above that, and the one above or else
/// the one to its right. By the traits of both, the second one's in the upper four bits.
struct ToldPatterns {
    std::array<std::uint8_t, 256> left, above;
};
inline constexpr auto told_patterns = [] {
    ToldPatterns told{};
    for (int i = 0; i < 256; ++i) {
        const int one = i & 15, other = i >> 4;
        const int direction = (one ? one : other) >> direction_bit, whole = (one & 3) == 2 ? 16 : 0;
        told.left[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(direction | whole);
        told.above[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(direction << 2 | whole);
    }
    return told;
}();

/// Channels of a pixel as vectors have them, with one that stays.
inline constexpr int vector_channels = 4;

/// What follows from a pixel's pattern.
struct PatternReading {
    alignas(8) std::int16_t signs[vector_channels];
    alignas(8) std::int16_t same[vector_channels];        ///< all bits where the channel before goes the same way
    alignas(8) std::uint8_t before[2 * vector_channels];  ///< that channel, as a shuffle of bytes; 128 for none
    std::uint8_t traits;
};
inline constexpr auto pattern_readings = [] {
    std::array<PatternReading, patterns> readings{};
    for (std::size_t pattern = 0; pattern < patterns; ++pattern) {
        auto& of = readings[pattern];
        of.traits = static_cast<std::uint8_t>(pattern_traits.extent[pattern] | pattern_traits.direction[pattern]
                                                                                   << direction_bit);
        for (auto& byte : of.before) byte = 128;
        int before = -1;
        for (const int channel : channel_order) {
            const int sign = pattern_signs[pattern][static_cast<std::size_t>(channel)];
            of.signs[channel] = static_cast<std::int16_t>(sign);
            if (!sign) continue;
            if (before >= 0) {
                for (int byte = 0; byte < 2; ++byte)
                    of.before[2 * channel + byte] = static_cast<std::uint8_t>(2 * before + byte);
                of.same[channel] = of.signs[before] == sign ? -1 : 0;
            }
            before = channel;
        }
    }
    return readings;
}();

/// What a pixel tells, by the rank of its pattern.
inline constexpr auto rank_traits = [] {
    std::array<std::uint8_t, patterns_by_frequency.size()> traits{};
    for (std::size_t rank = 0; rank < traits.size(); ++rank)
        traits[rank] = pattern_readings[patterns_by_frequency[rank]].traits;
    return traits;
}();
static_assert(patterns_by_frequency[0] == all_up && patterns_by_frequency[1] == all_down);

/// How far from what was expected a magnitude is that folds to so much, where it may be off both ways.
inline constexpr std::array<std::int8_t, 8> near_magnitudes = {0, 1, -1, 2, -2, 3, -3, 4};

}  // namespace framewire::delta
