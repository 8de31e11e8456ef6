#pragma once

#include "framewire/core/host_device.hpp"

#include <cstdint>

// Arithmetic of the symbols of delta frames, shared by scalar code, SIMD code and kernels, so that all of them code
// alike. The formulas are those of format.md, "A pixel".

namespace framewire::delta {

/// Prediction of a sub-block's bytes: from the same position of the previous picture, another position, neighbours in
/// the block, or (`differences`) none, as in blocks of changes.
enum class Foretold { reference, moved, inside, differences };

/// Returns the number of the model for whether a pixel changes. `left`, `above`: E of that neighbour, 0 to 2.
/// `corners`: how many of the upper left and upper right neighbour change. `second`: the pixel two to the left or the
/// one two above changes. `slope`: steepness of the prediction, 0 (flat) to 3; 0 if `by` is `differences`.
FRAMEWIRE_HOST_DEVICE constexpr int changed_model(int left, int above, int corners, bool second, Foretold by,
                                                  int slope) {
    return left + 3 * above + 9 * corners + 27 * second + 54 * (static_cast<int>(by) * 4 + slope);
}

/// Maximum number of steps of a byte in blocks of changes. Predictions have no such bound.
inline constexpr int max_steps = 255;

/// Expected magnitude of a channel's step and the model for the difference from it.
struct MagnitudeContext {
    int expected;  ///< at least 1
    int model;     ///< number of the magnitude model
};

/// Returns the context for a channel's magnitude. `steps(x, y, channel)` returns the coded steps of the pixel at that
/// offset. `sign` is the sign of the step, 1 or -1. `before` is the last channel of the same pixel that was coded and
/// changes, or -1, and `steps_before` its steps. `first`: the channel is the first in the order of coding. `fine`: the
/// step size is less than 3, or the block is one of changes.
template <class Steps>
[[gnu::always_inline]] FRAMEWIRE_HOST_DEVICE inline MagnitudeContext magnitude_context(const Steps& steps, int channel,
                                                                                       int sign, int before,
                                                                                       int steps_before, bool first,
                                                                                       bool fine) {
    // Few branches, because the directions of the neighbours are unpredictable.
    const int left = steps(-1, 0, channel) * sign, above = steps(0, -1, channel) * sign;
    int expected, support;
    if (before >= 0 && steps_before * sign > 0) {
        const int left_before = steps(-1, 0, before) * sign, above_before = steps(0, -1, before) * sign;
        const int use_left = (left > 0) & (left_before > 0), use_above = (above > 0) & (above_before > 0);
        const int by_left = left - left_before, by_above = above - above_before;
        const int both = use_left & use_above, more = (by_left & -use_left) + (by_above & -use_above);
        const int difference = by_left - by_above, apart = difference < 0 ? -difference : difference;
        // If both neighbours count, half of the sum, rounded towards zero.
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

/// Folds a magnitude of at least 1 to a number of at least 0: `expected` becomes 0, and numbers close to it stay small.
FRAMEWIRE_HOST_DEVICE inline int fold(int magnitude, int expected) {
    const int off = magnitude - expected, both = expected - 1;
    return off > both ? off + both : off > 0 ? 2 * off - 1 : -2 * off;
}
/// Inverse of fold().
FRAMEWIRE_HOST_DEVICE inline int unfold(int folded, int expected) {
    const int both = expected - 1, half = (folded + 1) >> 1, down = (folded & 1) - 1;
    // Computed without a branch, because the direction is unpredictable.
    const int near = expected + ((half ^ down) - down);
    return folded > 2 * both ? folded + 1 : near;
}

/// Variant of fold() for magnitudes 1 to max_steps. Returns a number from 0 to max_steps - 1.
FRAMEWIRE_HOST_DEVICE inline int fold_within(int magnitude, int expected) {
    const int off = magnitude - expected, far = off < 0 ? -off : off;
    const int below = expected - 1, above = max_steps - expected, both = below < above ? below : above;
    return far > both ? far + both : off > 0 ? 2 * off - 1 : 2 * far;
}
/// Inverse of fold_within().
FRAMEWIRE_HOST_DEVICE inline int unfold_within(int folded, int expected) {
    const int below = expected - 1, above = max_steps - expected, both = below < above ? below : above;
    if (folded > 2 * both) [[unlikely]]
        return below < above ? expected + folded - both : expected - folded + both;
    const int half = (folded + 1) >> 1, down = (folded & 1) - 1;
    return expected + ((half ^ down) - down);
}

/// A folded number as a symbol of the magnitude model and raw bits.
struct Token {
    int symbol, bits, value;  ///< the symbol, the number of raw bits, and their value
};
/// Returns the token for a folded number of at least 0.
FRAMEWIRE_HOST_DEVICE constexpr Token token_of(int folded) {
    if (folded < 8) return {folded, 0, 0};
    int top = 3;
    while (folded >> (top + 1)) ++top;
    const int bits = top - 1;
    return {8 + 2 * (top - 3) + (folded >> bits & 1), bits, folded & ((1 << bits) - 1)};
}
/// Returns the number of raw bits that follow a symbol.
FRAMEWIRE_HOST_DEVICE constexpr int token_bits(int symbol) { return symbol < 8 ? 0 : (symbol - 8) / 2 + 2; }
/// Returns the folded number for a symbol and its raw bits.
FRAMEWIRE_HOST_DEVICE constexpr int folded_of(int symbol, int value) {
    return symbol < 8 ? symbol : ((2 + symbol % 2) << token_bits(symbol)) + value;
}

/// Returns the signed steps of a nonzero difference: how far it is beyond the threshold. A difference is known modulo
/// 256 only, so it has two readings, one up and one down, of which at least one is beyond the threshold. If both are,
/// the reading closer to `like`, by which neighbours changed, is chosen; it is most often the true one.
FRAMEWIRE_HOST_DEVICE inline int signed_steps(std::uint8_t difference, int threshold, int like) {
    const int positive = difference, negative = difference - 256;
    const int from_positive = positive < like ? like - positive : positive - like;
    const int from_negative = negative < like ? like - negative : negative - like;
    const bool up = -negative <= threshold || (positive > threshold && from_positive < from_negative);
    return up ? positive - threshold : negative + threshold;
}

/// Order in which a pixel's channels are coded. Green comes first because it predicts the other two best.
inline constexpr int channel_order[3] = {1, 0, 2};

}  // namespace framewire::delta
