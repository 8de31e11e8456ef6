#pragma once

#include "framewire/core/host_device.hpp"

#include <cstdint>

// What the symbols of a step are, as numbers alone: for vectors, kernels and the rest the same.

namespace framewire::delta {

/// What the bytes of a part are foretold by; how steep the foretold picture is counts where there is one.
enum class Foretold { reference, moved, inside, differences };

/// The model of whether a pixel changes. `left` and `above`: none (0), some (1) or all (2) channels of that neighbour
/// change; `corners`: how many of those above to the left and right change; `second`: whether the second one to the
/// left or above does; `slope`: 0 flat to 3 steep.
FRAMEWIRE_HOST_DEVICE constexpr int changed_model(int left, int above, int corners, bool second, Foretold by,
                                                  int slope) {
    return left + 3 * above + 9 * corners + 27 * second + 54 * (static_cast<int>(by) * 4 + slope);
}

/// Most steps a byte goes up or down.
inline constexpr int max_steps = 255;

/// What is expected of a byte's magnitude, in steps, and the model of how far off that is.
struct MagnitudeContext {
    int expected;  ///< at least 1
    int model;
};

/// `steps(x, y, channel)`: those of the pixel (x, y) away, of what is coded. `before`: the channel of the same pixel
/// coded before that changes too, else -1; `steps_before` its steps. `first`: the channel is the first in the order of
/// coding.
template <class Steps>
[[gnu::always_inline]] FRAMEWIRE_HOST_DEVICE inline MagnitudeContext magnitude_context(const Steps& steps, int channel,
                                                                                       int sign, int before,
                                                                                       int steps_before, bool first,
                                                                                       bool fine) {
    // Few branches: which neighbours change nobody can guess.
    const int left = steps(-1, 0, channel) * sign, above = steps(0, -1, channel) * sign;
    int expected, support;
    if (before >= 0 && steps_before * sign > 0) {
        const int left_before = steps(-1, 0, before) * sign, above_before = steps(0, -1, before) * sign;
        const int use_left = (left > 0) & (left_before > 0), use_above = (above > 0) & (above_before > 0);
        const int by_left = left - left_before, by_above = above - above_before;
        const int both = use_left & use_above, more = (by_left & -use_left) + (by_above & -use_above);
        const int difference = by_left - by_above, apart = difference < 0 ? -difference : difference;
        // Half of it, rounded towards zero, where both tell.
        expected = steps_before * sign + ((more + ((more < 0) & both)) >> both);
        expected = expected < 1 ? 1 : expected > max_steps ? max_steps : expected;
        support = both ? (apart > 2) + (apart > 7) : 4 - (use_left | use_above);
    } else {
        const int has_left = left > 0, has_above = above > 0;
        const int larger = left > above ? left : above, smaller = left > above ? above : left, apart = larger - smaller;
        const int corner = steps(-1, -1, channel) * sign;
        const int straight = corner > 0 ? left + above - corner : (left + above) >> 1;
        const int held = straight < smaller ? smaller : straight > larger ? larger : straight;
        const int both = has_left & has_above;
        expected = both ? held : larger;
        expected = expected < 1 ? 1 : expected;
        support = both ? 5 + (apart > 3) + (apart > 15) : 9 - (has_left | has_above);
    }
    const int size = (expected > 1) + (expected > 11);
    return {expected, size + 3 * support + 30 * first + 60 * fine};
}

/// A magnitude folded around what was expected, nearest first: a number from 0 on.
FRAMEWIRE_HOST_DEVICE inline int fold(int magnitude, int expected) {
    const int off = magnitude - expected, both = expected - 1;
    return off > both ? off + both : off > 0 ? 2 * off - 1 : -2 * off;
}
FRAMEWIRE_HOST_DEVICE inline int unfold(int folded, int expected) {
    const int both = expected - 1, half = (folded + 1) >> 1, down = (folded & 1) - 1;
    // Which way it goes nobody can guess.
    const int near = expected + ((half ^ down) - down);
    return folded > 2 * both ? folded + 1 : near;
}

/// The same of magnitudes from 1 to max_steps only: a number from 0 to max_steps - 1.
FRAMEWIRE_HOST_DEVICE inline int fold_within(int magnitude, int expected) {
    const int off = magnitude - expected, far = off < 0 ? -off : off;
    const int below = expected - 1, above = max_steps - expected, both = below < above ? below : above;
    return far > both ? far + both : off > 0 ? 2 * off - 1 : 2 * far;
}
FRAMEWIRE_HOST_DEVICE inline int unfold_within(int folded, int expected) {
    const int below = expected - 1, above = max_steps - expected, both = below < above ? below : above;
    if (folded > 2 * both) [[unlikely]]
        return below < above ? expected + folded - both : expected - folded + both;
    const int half = (folded + 1) >> 1, down = (folded & 1) - 1;
    return expected + ((half ^ down) - down);
}

/// A folded number as a symbol and the bits that follow it.
struct Token {
    int symbol, bits, value;
};
FRAMEWIRE_HOST_DEVICE constexpr Token token_of(int folded) {
    if (folded < 8) return {folded, 0, 0};
    int top = 3;
    while (folded >> (top + 1)) ++top;
    const int bits = top - 1;
    return {8 + 2 * (top - 3) + (folded >> bits & 1), bits, folded & ((1 << bits) - 1)};
}
FRAMEWIRE_HOST_DEVICE constexpr int token_bits(int symbol) { return symbol < 8 ? 0 : (symbol - 8) / 2 + 2; }
FRAMEWIRE_HOST_DEVICE constexpr int folded_of(int symbol, int value) {
    return symbol < 8 ? symbol : ((2 + symbol % 2) << token_bits(symbol)) + value;
}

/// The steps of a difference other than 0: how far beyond the threshold, with its sign. Differences count modulo 256,
/// so each stands for two numbers, at least one of them beyond the threshold. The one nearer to `like`, what neighbours
/// changed by, is most often the one that was before the modulus.
FRAMEWIRE_HOST_DEVICE inline int signed_steps(std::uint8_t difference, int threshold, int like) {
    const int positive = difference, negative = difference - 256;
    const int from_positive = positive < like ? like - positive : positive - like;
    const int from_negative = negative < like ? like - negative : negative - like;
    const bool up = -negative <= threshold || (positive > threshold && from_positive < from_negative);
    return up ? positive - threshold : negative + threshold;
}

/// The order in which a pixel's channels are coded: green tells most of the other two.
inline constexpr int channel_order[3] = {1, 0, 2};

}  // namespace framewire::delta
