#pragma once

#include "framewire/codec/blocks.hpp"
#include "framewire/codec/models.hpp"
#include "framewire/codec/symbols.hpp"
#include "framewire/core/view.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

// Arithmetic of the symbols of delta frames, shared by scalar code, SIMD code and kernels, so that all of them produce
// the same symbols. The formulas are those of format.md, "A pixel".

namespace framewire::codec {

/// Source of a sub-block's prediction: the same position in the previous picture, another position in it, neighbours in
/// the block, or (`differences`) no prediction, as in blocks of changes.
enum class Predicted { reference, moved, inside, differences };

/// Returns the number of the model for whether a pixel changes. `left`, `above`: E of the left and the upper neighbour,
/// 0 to 2. `corners`: how many of the upper left and upper right neighbours change. `second`: whether the pixel two to
/// the left or the one two above changes. `slope`: steepness of the prediction, 0 (flat) to 3; 0 if `by` is
/// `differences`.
FRAMEWIRE_HOST_DEVICE constexpr int changed_model(int left, int above, int corners, bool second, Predicted by,
                                                  int slope) {
    return left + 3 * above + 9 * corners + 27 * second + 54 * (static_cast<int>(by) * 4 + slope);
}

/// Maximum number of steps of a byte in blocks of changes. In predictions, the number of steps has no such bound.
inline constexpr int max_steps = 255;

/// Expected magnitude of a channel's step, and the model for the difference between the actual and the expected
/// magnitude.
struct MagnitudeContext {
    int expected;  ///< at least 1
    int model;     ///< number of the magnitude model
};

/// Returns the context for a channel's magnitude. `steps(x, y, channel)` returns the coded steps of the pixel at the
/// offset (x, y). `sign` is the sign of the step, 1 or -1. `before` is the previously coded channel of the same pixel
/// that changes, or -1 if there is none, and `steps_before` is its steps. `first`: whether the channel is the first in
/// coding order. `fine`: whether the step size is less than 3 or the block is a block of changes.
template <class Steps>
[[gnu::always_inline]] FRAMEWIRE_HOST_DEVICE inline MagnitudeContext magnitude_context(const Steps& steps, int channel,
                                                                                       int sign, int before,
                                                                                       int steps_before, bool first,
                                                                                       bool fine) {
    // Mostly branchless, because the directions of the neighbours are unpredictable.
    const int left = steps(-1, 0, channel) * sign, above = steps(0, -1, channel) * sign;
    int expected, support;
    if (before >= 0 && steps_before * sign > 0) {
        const int left_before = steps(-1, 0, before) * sign, above_before = steps(0, -1, before) * sign;
        const int use_left = (left > 0) & (left_before > 0), use_above = (above > 0) & (above_before > 0);
        const int by_left = left - left_before, by_above = above - above_before;
        const int both = use_left & use_above, more = (by_left & -use_left) + (by_above & -use_above);
        const int difference = by_left - by_above, apart = difference < 0 ? -difference : difference;
        // If both neighbours count, add half of the sum of their differences, rounded towards zero.
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

/// Folds a magnitude of at least 1 to a number of at least 0: `expected` becomes 0, and magnitudes close to it become
/// small numbers.
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

/// Returns the signed steps of a nonzero difference: the amount by which it exceeds the threshold. A difference is only
/// known modulo 256, so it may be an increase or a decrease, at least one of which exceeds the threshold. If both do,
/// chooses the one closer to `like`, the change of neighbours; it is usually the right one.
FRAMEWIRE_HOST_DEVICE inline int signed_steps(std::uint8_t difference, int threshold, int like) {
    const int positive = difference, negative = difference - 256;
    const int from_positive = positive < like ? like - positive : positive - like;
    const int from_negative = negative < like ? like - negative : negative - like;
    const bool up = -negative <= threshold || (positive > threshold && from_positive < from_negative);
    return up ? positive - threshold : negative + threshold;
}

/// Order in which a pixel's channels are coded. Green comes first because it predicts the other two best.
inline constexpr int channel_order[3] = {1, 0, 2};

/// Directions of a pixel's channels as one number: the sum over channels c of 3^c times 0 (stays), 1 (up) or 2 (down).
/// A gray pixel counts as one with three equal channels.
using Pattern = std::uint8_t;
/// Number of patterns.
inline constexpr int patterns = 27;
/// Patterns in which all channels go in the same direction.
inline constexpr Pattern all_up = 13, all_down = 26;

/// Returns the pattern for `channels` steps.
template <int channels>
Pattern pattern_of(const std::int16_t* steps) {
    constexpr int weights[3] = {1, 3, 9};
    int pattern = 0;
    for (int channel = 0; channel < channels; ++channel)
        pattern += (channels == 1 ? int{all_up} : weights[channel]) * ((steps[channel] > 0) + 2 * (steps[channel] < 0));
    return static_cast<Pattern>(pattern);
}

/// Summary of a pattern for contexts: E and D of format.md, indexed by the pattern.
struct PatternTraits {
    std::array<std::uint8_t, patterns> extent;     ///< E: 0 if no channel changes, 1 if some change, 2 if all change
    std::array<std::uint8_t, patterns> direction;  ///< D: directions that occur: 0 none, 1 up, 2 down, 3 both
};
/// Traits of all patterns.
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

/// Contexts of a block on the CPU: the pattern and steps of each coded pixel. Pixels outside the block and pixels that
/// are not coded yet have the pattern 0 and no steps; for the former, the arrays have a border of zeros.
class CodedPixels {
public:
    /// Creates a block without coded pixels.
    CodedPixels() { clear(); }
    /// Removes all coded pixels.
    void clear() {
        patterns_.fill(0);
        extents_.fill(0);
        steps_.fill(0);
    }

    /// Returns the steps of a channel of the pixel (x, y).
    int steps(int x, int y, int channel) const { return steps_[at(x, y) * 3 + static_cast<std::size_t>(channel)]; }
    /// Sets the pattern of a pixel in the block.
    void set_pattern(int x, int y, Pattern pattern) {
        patterns_[at(x, y)] = pattern;
        extents_[at(x, y)] = pattern_traits.extent[pattern];
    }
    /// Sets the steps of a channel of a pixel in the block.
    void set_steps(int x, int y, int channel, int steps) {
        steps_[at(x, y) * 3 + static_cast<std::size_t>(channel)] = static_cast<std::int16_t>(steps);
    }

    /// Sets the patterns and steps of the eight pixels of a sub-block's row. Pixels outside the block must have the
    /// pattern 0 and no steps.
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

    /// Neighbourhood of a pixel, which determines the models for its flag and its pattern.
    struct Neighbours {
        Pattern left, above, above_left, above_right;
        bool second;  ///< whether the pixel two to the left or the one two above changes
    };
    /// Returns the neighbourhood of the pixel (x, y). In the last column of a sub-block, the pixel above right is known
    /// only in the first row.
    Neighbours neighbours(int x, int y) const {
        const auto here = at(x, y);
        const bool unknown = x % part_side == part_side - 1 && y % part_side != 0;
        return {patterns_[here - 1], patterns_[here - stride], patterns_[here - stride - 1],
                unknown ? Pattern{0} : patterns_[here - stride + 1],
                (patterns_[here - 2] | patterns_[here - 2 * stride]) != 0};
    }

    /// Returns the contribution of the pixels above to the number of changed_model() for each of the eight pixels from
    /// (x, y) on, which form a sub-block's row. The result has one number per byte, plus `second_above` if the pixel
    /// two above changes. Bytes of pixels outside the block are meaningless.
    std::uint64_t changed_above(int x, int y) const {
        const auto here = at(x, y);
        auto right = extents(here - stride + 1);
        if (y % part_side != 0) right &= ~std::uint64_t{0} >> 8;
        return 3 * extents(here - stride) + 9 * (ones(extents(here - stride - 1)) + ones(right)) +
               second_above * ones(extents(here - 2 * stride));
    }
    /// Flag bit in each byte of changed_above(), above the bits of the number: the pixel two above changes. It is
    /// separate because a change two to the left has the same effect, and the two together count once.
    static constexpr std::uint64_t second_above = 32;
    /// Returns E of the pattern of the pixel (x, y).
    int extent(int x, int y) const { return extents_[at(x, y)]; }

private:
    static constexpr std::uint64_t each = ~std::uint64_t{0} / 255;

    std::uint64_t extents(std::size_t at) const {
        std::uint64_t eight;
        std::memcpy(&eight, &extents_[at], sizeof(eight));
        return eight;
    }
    // Maps each byte: 0 to 0, 1 and 2 to 1.
    static std::uint64_t ones(std::uint64_t extents) { return (extents | extents >> 1) & each; }

    static constexpr std::size_t stride = block_side + 3;
    static std::size_t at(int x, int y) {
        return static_cast<std::size_t>(y + 2) * stride + static_cast<std::size_t>(x + 2);
    }

    std::array<Pattern, stride*(block_side + 2) + part_side> patterns_;
    std::array<std::uint8_t, stride*(block_side + 2) + part_side> extents_;  // E of the patterns
    std::array<std::int16_t, stride*(block_side + 2) * 3> steps_;
};

/// Returns the number of the model for whether a pixel changes.
constexpr int changed_model(const CodedPixels::Neighbours& near, Predicted by, int slope) {
    const auto& extent = pattern_traits.extent;
    return changed_model(extent[near.left], extent[near.above], (near.above_left != 0) + (near.above_right != 0),
                         near.second, by, slope);
}

/// Returns the number of the model for a pixel's pattern, or for its sign in gray pictures.
inline int pattern_model(const CodedPixels::Neighbours& near) {
    const auto& traits = pattern_traits;
    const int left = traits.direction[near.left ? near.left : near.above_left];
    const int above = traits.direction[near.above ? near.above : near.above_right];
    return left + 4 * above + 16 * (traits.extent[near.left] == 2 || traits.extent[near.above] == 2);
}

/// Variant of magnitude_context() for the pixel (x, y) of a CodedPixels.
[[gnu::always_inline]] inline MagnitudeContext magnitude_context(const CodedPixels& coded, int x, int y, int channel,
                                                                 int sign, int before, int steps_before, bool first,
                                                                 bool fine) {
    return magnitude_context([&](int right, int down, int of) { return coded.steps(x + right, y + down, of); }, channel,
                             sign, before, steps_before, first, fine);
}

/// Patterns in descending order of frequency, which is the order of the pattern model's symbols, so that the decoder's
/// linear search ends early.
inline constexpr std::array<Pattern, patterns - 1> patterns_by_frequency = {
    13, 26, 2, 18, 1, 9, 6, 3, 24, 8, 12, 4, 16, 23, 17, 22, 25, 14, 20, 10, 15, 21, 7, 5, 19, 11};
/// Inverse of patterns_by_frequency: the symbol of each pattern.
inline constexpr auto pattern_ranks = [] {
    std::array<std::uint8_t, patterns> ranks{};
    for (std::size_t rank = 0; rank < patterns_by_frequency.size(); ++rank)
        ranks[patterns_by_frequency[rank]] = static_cast<std::uint8_t>(rank);
    return ranks;
}();

/// Direction of each channel per pattern: 1 up, -1 down, 0 unchanged.
inline constexpr auto pattern_signs = [] {
    std::array<std::array<std::int8_t, 3>, patterns> signs{};
    for (std::size_t pattern = 0; pattern < patterns; ++pattern) {
        auto rest = pattern;
        for (auto& sign : signs[pattern]) {
            sign = static_cast<std::int8_t>(rest % 3 == 2 ? -1 : static_cast<int>(rest % 3));
            rest /= 3;
        }
    }
    return signs;
}();

/// Adds the symbols of a changed pixel to `symbols`: its pattern, then the magnitude of each changed channel. `coded`
/// must already contain the pixel.
template <class Sink>
void add_pixel(Sink& symbols, const CodedPixels& coded, const CodedPixels::Neighbours& near, int x, int y, int channels,
               int pattern, const int* steps, bool fine) {
    const int model = pattern_model(near);
    symbols.add(channels == 1 ? step_models::sign.at(model) + (steps[0] < 0)
                              : step_models::pattern.at(model) + pattern_ranks[static_cast<std::size_t>(pattern)]);
    int before = -1, steps_before = 0;
    for (int i = 0; i < channels; ++i) {
        const int channel = channels == 1 ? 0 : channel_order[i];
        if (!steps[channel]) continue;
        const int sign = steps[channel] > 0 ? 1 : -1;
        const auto context = magnitude_context(coded, x, y, channel, sign, before, steps_before, i == 0, fine);
        const auto token = token_of(fold(std::abs(steps[channel]), context.expected));
        symbols.add(step_models::magnitude.at(context.model) + token.symbol);
        symbols.add_bits(token.value, token.bits);
        before = channel;
        steps_before = steps[channel];
    }
}

/// Inverse of add_pixel(): reads the steps of all channels to `steps` and updates `coded`. Always inlined, so that the
/// reader stays in registers.
template <class Reader>
[[gnu::always_inline]] inline void read_pixel(const StepModels& models, Reader& reader, CodedPixels& coded,
                                              const CodedPixels::Neighbours& near, int x, int y, int channels,
                                              bool fine, int* steps) {
    const int model = pattern_model(near);
    const int pattern = channels == 1 ? models.read_flag(reader, step_models::sign.at(model)) ? all_down : all_up
                                      : patterns_by_frequency[static_cast<std::size_t>(models.read(
                                            reader, step_models::pattern.at(model), step_models::pattern.symbols))];
    coded.set_pattern(x, y, static_cast<Pattern>(pattern));
    const auto& signs = pattern_signs[static_cast<std::size_t>(pattern)];
    int before = -1, steps_before = 0;
    for (int i = 0; i < channels; ++i) {
        const int channel = channels == 1 ? 0 : channel_order[i];
        const int sign = signs[static_cast<std::size_t>(channel)];
        steps[channel] = 0;
        if (!sign) continue;
        const auto context = magnitude_context(coded, x, y, channel, sign, before, steps_before, i == 0, fine);
        const int symbol =
            models.read(reader, step_models::magnitude.at(context.model), step_models::magnitude.symbols);
        const int bits = token_bits(symbol);
        const int folded = folded_of(symbol, bits ? static_cast<int>(reader.bits(bits)) : 0);
        // A magnitude that is too large for a byte is rejected when the byte is reconstructed.
        steps[channel] = sign * unfold(folded, context.expected);
        coded.set_steps(x, y, channel, steps[channel]);
        before = channel;
        steps_before = steps[channel];
    }
}

/// Steps of a block's pixels in one plane per channel, for the SIMD encoder, which reads eight pixels of a row at a
/// time. A border of zeros represents the pixels outside the block.
class StepPlanes {
public:
    /// Distance between rows in elements. The border has 8 columns on each side.
    static constexpr std::size_t stride = block_side + 2 * part_side;

    /// Returns the address of a pixel's step. The pixel may be up to 8 columns to the left or right of the block, and
    /// up to 2 rows above it.
    std::int16_t* steps(int channel, int x, int y) { return &steps_[static_cast<std::size_t>(channel)][at(x, y)]; }
    /// Returns the address of a pixel's E: no (0), some (1) or all (2) of its channels change.
    std::uint8_t* extent(int x, int y) { return &extents_[at(x, y)]; }
    /// Returns the address of a pixel's D: no channel changes (0), some go up (1), some go down (2), or both occur (3).
    std::uint8_t* direction(int x, int y) { return &directions_[at(x, y)]; }

    /// Clears the sub-block at (left, top). All sub-blocks must be clear before a block is coded.
    void clear_part(int left, int top) {
        for (int y = top; y < top + part_side; ++y) {
            for (int channel = 0; channel < 3; ++channel)
                std::memset(steps(channel, left, y), 0, part_side * sizeof(std::int16_t));
            std::memset(extent(left, y), 0, part_side);
            std::memset(direction(left, y), 0, part_side);
        }
    }

private:
    static constexpr std::size_t border_rows = 2, size = (block_side + border_rows) * stride;
    static std::size_t at(int x, int y) {
        return (static_cast<std::size_t>(y) + border_rows) * stride + static_cast<std::size_t>(x + part_side);
    }

    std::array<std::array<std::int16_t, size>, 3> steps_{};
    std::array<std::uint8_t, size> extents_{}, directions_{};
};

}  // namespace framewire::codec
