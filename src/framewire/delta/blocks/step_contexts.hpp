#pragma once

#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/entropy/models.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace framewire::delta {

/// Which channels of a pixel go up and which down: the sum over channels c of 3^c times 0 (stays), 1 (up) or 2 (down).
/// A pixel of one channel counts as one whose three channels go the same way.
using Pattern = std::uint8_t;
inline constexpr int patterns = 27;
inline constexpr Pattern all_up = 13, all_down = 26;

/// The pattern of a pixel's steps.
template <int channels>
Pattern pattern_of(const std::int16_t* steps) {
    constexpr int weights[3] = {1, 3, 9};
    int pattern = 0;
    for (int channel = 0; channel < channels; ++channel)
        pattern += (channels == 1 ? int{all_up} : weights[channel]) * ((steps[channel] > 0) + 2 * (steps[channel] < 0));
    return static_cast<Pattern>(pattern);
}

/// What neighbours tell by their pattern.
struct PatternTraits {
    std::array<std::uint8_t, patterns> extent;     ///< 0 none, 1 some, 2 all channels change
    std::array<std::uint8_t, patterns> direction;  ///< 0 none, 1 up, 2 down, 3 both
};
inline constexpr PatternTraits pattern_traits = [] {
    PatternTraits traits{};
    for (int pattern = 0; pattern < patterns; ++pattern) {
        int up = 0, down = 0;
        for (int rest = pattern; rest; rest /= 3) rest % 3 == 1 ? ++up : rest % 3 == 2 ? ++down : 0;
        const auto at = static_cast<std::size_t>(pattern);
        traits.extent[at] = up + down == 0 ? 0 : up + down == 3 ? 2 : 1;
        traits.direction[at] = up && down ? 3 : up ? 1 : down ? 2 : 0;
    }
    return traits;
}();

/// What of a block is coded so far, as its contexts need it: each pixel's pattern, and how many steps each byte goes up
/// or down. Nothing outside the block counts.
class CodedPixels {
public:
    CodedPixels() { clear(); }
    void clear() {
        patterns_.fill(0);
        extents_.fill(0);
        steps_.fill(0);
    }
    /// The same of the part whose first pixel this is.
    void clear_part(int left, int top) {
        for (int y = top; y < top + part_side; ++y) {
            std::memset(&patterns_[at(left, y)], 0, part_side);
            std::memset(&extents_[at(left, y)], 0, part_side);
            std::memset(&steps_[at(left, y) * 3], 0, part_side * 3 * sizeof(steps_[0]));
        }
    }

    Pattern pattern(int x, int y) const { return patterns_[at(x, y)]; }
    int steps(int x, int y, int channel) const { return steps_[at(x, y) * 3 + static_cast<std::size_t>(channel)]; }
    void set_pattern(int x, int y, Pattern pattern) {
        patterns_[at(x, y)] = pattern;
        extents_[at(x, y)] = pattern_traits.extent[pattern];
    }
    void set_steps(int x, int y, int channel, int steps) {
        steps_[at(x, y) * 3 + static_cast<std::size_t>(channel)] = static_cast<std::int16_t>(steps);
    }

    /// Eight pixels of a part's row; those outside the block have the pattern 0 and no steps.
    template <int channels>
    void set_row(int left, int y, const std::array<Pattern, part_side>& of, const std::int16_t* steps) {
        const auto here = at(left, y);
        for (std::size_t x = 0; x < of.size(); ++x) {
            patterns_[here + x] = of[x];
            extents_[here + x] = pattern_traits.extent[of[x]];
        }
        auto* to = &steps_[here * 3];
        if constexpr (channels == 3)
            std::memcpy(to, steps, part_side * 3 * sizeof(*to));
        else
            for (int x = 0; x < part_side; ++x) to[x * 3] = steps[x];
    }

    /// The context of a pixel's pattern. A pixel above and to the right is known only where its part came before:
    /// `inner` pixels are not in their part's first row.
    struct Neighbours {
        Pattern left, above, above_left, above_right;
        bool second;  ///< the second one to the left or above changes
    };
    Neighbours neighbours(int x, int y) const {
        const auto here = at(x, y);
        const bool unknown = x % part_side == part_side - 1 && y % part_side != 0;
        return {patterns_[here - 1], patterns_[here - stride], patterns_[here - stride - 1],
                unknown ? Pattern{0} : patterns_[here - stride + 1],
                (patterns_[here - 2] | patterns_[here - 2 * stride]) != 0};
    }

    /// What pixels above say to changed_model(), of eight pixels at once, from the first one of a part's row on: one
    /// number in each byte, with `second_above` where the second one above changes. Bytes of pixels outside the block
    /// mean nothing.
    std::uint64_t changed_above(int x, int y) const {
        const auto here = at(x, y);
        auto right = extents(here - stride + 1);
        if (y % part_side != 0) right &= ~std::uint64_t{0} >> 8;
        return 3 * extents(here - stride) + 9 * (ones(extents(here - stride - 1)) + ones(right)) +
               second_above * ones(extents(here - 2 * stride));
    }
    static constexpr std::uint64_t second_above = 32;
    int extent(int x, int y) const { return extents_[at(x, y)]; }

private:
    static constexpr std::uint64_t each = ~std::uint64_t{0} / 255;

    std::uint64_t extents(std::size_t at) const {
        std::uint64_t eight;
        std::memcpy(&eight, &extents_[at], sizeof(eight));
        return eight;
    }
    /// 1 for each byte that is 1 or 2, 0 for 0.
    static std::uint64_t ones(std::uint64_t extents) { return (extents | extents >> 1) & each; }

    static constexpr std::size_t stride = block_side + 3;
    static std::size_t at(int x, int y) {
        return static_cast<std::size_t>(y + 2) * stride + static_cast<std::size_t>(x + 2);
    }

    std::array<Pattern, stride*(block_side + 2) + part_side> patterns_;
    std::array<std::uint8_t, stride*(block_side + 2) + part_side> extents_;  // of the patterns
    std::array<std::int16_t, stride*(block_side + 2) * 3> steps_;
};

/// What the bytes of a part are foretold by; how steep the foretold picture is counts where there is one.
enum class Foretold { reference, moved, inside, differences };

/// The model of whether a pixel changes. `slope`: 0 flat to 3 steep.
constexpr int changed_model(const CodedPixels::Neighbours& near, Foretold by, int slope) {
    const auto& extent = pattern_traits.extent;
    const int corners = (near.above_left != 0) + (near.above_right != 0);
    const int where = extent[near.left] + 3 * extent[near.above] + 9 * corners + 27 * near.second;
    return where + 54 * (static_cast<int>(by) * 4 + slope);
}

/// The model of which of its channels do, or of a gray pixel's sign.
inline int pattern_model(const CodedPixels::Neighbours& near) {
    const auto& traits = pattern_traits;
    const int left = traits.direction[near.left ? near.left : near.above_left];
    const int above = traits.direction[near.above ? near.above : near.above_right];
    return left + 4 * above + 16 * (traits.extent[near.left] == 2 || traits.extent[near.above] == 2);
}

/// Most steps a byte goes up or down.
inline constexpr int max_steps = 255;

/// What is expected of a byte's magnitude, in steps, and the model of how far off that is.
struct MagnitudeContext {
    int expected;  ///< at least 1
    int model;
};

/// `before`: the channel of the same pixel coded before that changes too, else -1; `steps_before` its steps. `first`:
/// the channel is the first in the order of coding.
[[gnu::always_inline]] inline MagnitudeContext magnitude_context(const CodedPixels& coded, int x, int y, int channel,
                                                                 int sign, int before, int steps_before, bool first,
                                                                 bool fine) {
    // Few branches: which neighbours change nobody can guess.
    const int left = coded.steps(x - 1, y, channel) * sign, above = coded.steps(x, y - 1, channel) * sign;
    int expected, support;
    if (before >= 0 && steps_before * sign > 0) {
        const int left_before = coded.steps(x - 1, y, before) * sign,
                  above_before = coded.steps(x, y - 1, before) * sign;
        const int use_left = (left > 0) & (left_before > 0), use_above = (above > 0) & (above_before > 0);
        const int by_left = left - left_before, by_above = above - above_before;
        const int both = use_left & use_above, more = (by_left & -use_left) + (by_above & -use_above);
        const int apart = std::abs(by_left - by_above);
        // Half of it, rounded towards zero, where both tell.
        expected = std::clamp(steps_before * sign + ((more + ((more < 0) & both)) >> both), 1, max_steps);
        support = both ? (apart > 2) + (apart > 7) : 4 - (use_left | use_above);
    } else {
        const int has_left = left > 0, has_above = above > 0;
        const int larger = std::max(left, above), smaller = std::min(left, above), apart = larger - smaller;
        const int corner = coded.steps(x - 1, y - 1, channel) * sign;
        const int straight = corner > 0 ? left + above - corner : (left + above) >> 1;
        const int held = std::min(std::max(straight, smaller), larger);
        const int both = has_left & has_above;
        expected = std::max(both ? held : larger, 1);
        support = both ? 5 + (apart > 3) + (apart > 15) : 9 - (has_left | has_above);
    }
    const int size = (expected > 1) + (expected > 11);
    return {expected, size + 3 * support + 30 * first + 60 * fine};
}

/// A magnitude folded around what was expected, nearest first: a number from 0 on.
inline int fold(int magnitude, int expected) {
    const int off = magnitude - expected, both = expected - 1;
    return off > both ? off + both : off > 0 ? 2 * off - 1 : -2 * off;
}
inline int unfold(int folded, int expected) {
    const int both = expected - 1, half = (folded + 1) / 2;
    return expected + (folded > 2 * both ? folded - both : folded & 1 ? half : -half);
}

/// A folded number as a symbol and the bits that follow it.
struct Token {
    int symbol, bits, value;
};
constexpr Token token_of(int folded) {
    if (folded < 8) return {folded, 0, 0};
    const int top = std::bit_width(static_cast<unsigned>(folded)) - 1;
    const int bits = top - 1;
    return {8 + 2 * (top - 3) + (folded >> bits & 1), bits, folded & ((1 << bits) - 1)};
}
inline constexpr int token_bits(int symbol) { return symbol < 8 ? 0 : (symbol - 8) / 2 + 2; }
inline int folded_of(int symbol, int value) {
    return symbol < 8 ? symbol : ((2 + symbol % 2) << token_bits(symbol)) + value;
}

/// The steps of a difference other than 0: how far beyond the threshold, with its sign. Differences count modulo 256,
/// so each stands for two numbers, at least one of them beyond the threshold. The one nearer to `like`, what neighbours
/// changed by, is most often the one that was before the modulus.
inline int signed_steps(std::uint8_t difference, int threshold, int like) {
    const int positive = difference, negative = difference - 256;
    const bool up =
        -negative <= threshold || (positive > threshold && std::abs(positive - like) < std::abs(negative - like));
    return up ? positive - threshold : negative + threshold;
}

/// The order in which a pixel's channels are coded: green tells most of the other two.
inline constexpr int channel_order[3] = {1, 0, 2};

}  // namespace framewire::delta
