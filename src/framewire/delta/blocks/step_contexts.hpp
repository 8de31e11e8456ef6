#pragma once

#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/blocks/step_formulas.hpp"
#include "framewire/delta/entropy/models/models.hpp"

#include <array>
#include <cstdint>
#include <cstring>

namespace framewire::delta {

/// Directions of a pixel's channels as one number: the sum over channels c of 3^c times 0 (stays), 1 (up) or 2 (down).
/// A gray pixel counts as one with three equal channels.
using Pattern = std::uint8_t;
/// Number of patterns.
inline constexpr int patterns = 27;
/// Patterns in which all channels go the same way.
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
    std::array<std::uint8_t, patterns> extent;     ///< E: 0 no, 1 some, 2 all channels change
    std::array<std::uint8_t, patterns> direction;  ///< D: 0 none, 1 up, 2 down, 3 both
};
/// The traits of all patterns.
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

/// Contexts of a block on the CPU: pattern and steps of each coded pixel. Pixels outside the block and pixels that are
/// not coded yet have the pattern 0 and no steps. A border around the arrays holds these zeros.
class CodedPixels {
public:
    /// Makes an empty block.
    CodedPixels() { clear(); }
    /// Makes the block empty again.
    void clear() {
        patterns_.fill(0);
        extents_.fill(0);
        steps_.fill(0);
    }

    /// Returns the pattern of a pixel; up to two pixels to the left of the block and above it are allowed.
    Pattern pattern(int x, int y) const { return patterns_[at(x, y)]; }
    /// Returns the steps of a channel.
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

    /// Sets eight pixels of a sub-block's row. Pixels outside the block must have the pattern 0 and no steps.
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

    /// Neighbourhood of a pixel, from which the models for its flag and its pattern follow.
    struct Neighbours {
        Pattern left, above, above_left, above_right;
        bool second;  ///< the pixel two to the left or the one two above changes
    };
    /// Returns the neighbourhood of the pixel (x, y). The pixel above right of a sub-block's last column is known only
    /// in the sub-block's first row.
    Neighbours neighbours(int x, int y) const {
        const auto here = at(x, y);
        const bool unknown = x % part_side == part_side - 1 && y % part_side != 0;
        return {patterns_[here - 1], patterns_[here - stride], patterns_[here - stride - 1],
                unknown ? Pattern{0} : patterns_[here - stride + 1],
                (patterns_[here - 2] | patterns_[here - 2 * stride]) != 0};
    }

    /// Returns the share of the pixels above in the number of changed_model(), for the eight pixels of a sub-block's
    /// row from (x, y) on: one number per byte, plus `second_above` if the pixel two above changes. Bytes of pixels
    /// outside the block are meaningless.
    std::uint64_t changed_above(int x, int y) const {
        const auto here = at(x, y);
        auto right = extents(here - stride + 1);
        if (y % part_side != 0) right &= ~std::uint64_t{0} >> 8;
        return 3 * extents(here - stride) + 9 * (ones(extents(here - stride - 1)) + ones(right)) +
               second_above * ones(extents(here - 2 * stride));
    }
    /// Flag in the bytes of changed_above(), above the numbers. It is kept apart from them, because the pixel two to
    /// the left has the same effect, and the effect counts once.
    static constexpr std::uint64_t second_above = 32;
    /// Returns E of the pixel's pattern.
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
    std::array<std::uint8_t, stride*(block_side + 2) + part_side> extents_;  // of the patterns
    std::array<std::int16_t, stride*(block_side + 2) * 3> steps_;
};

/// Returns the number of the model for whether a pixel changes.
constexpr int changed_model(const CodedPixels::Neighbours& near, Foretold by, int slope) {
    const auto& extent = pattern_traits.extent;
    return changed_model(extent[near.left], extent[near.above], (near.above_left != 0) + (near.above_right != 0),
                         near.second, by, slope);
}

/// Returns the number of the model for a pixel's pattern, or for the sign if gray.
inline int pattern_model(const CodedPixels::Neighbours& near) {
    const auto& traits = pattern_traits;
    const int left = traits.direction[near.left ? near.left : near.above_left];
    const int above = traits.direction[near.above ? near.above : near.above_right];
    return left + 4 * above + 16 * (traits.extent[near.left] == 2 || traits.extent[near.above] == 2);
}

/// Returns the context for the magnitude of a channel of the pixel (x, y); see magnitude_context() in
/// step_formulas.hpp.
[[gnu::always_inline]] inline MagnitudeContext magnitude_context(const CodedPixels& coded, int x, int y, int channel,
                                                                 int sign, int before, int steps_before, bool first,
                                                                 bool fine) {
    return magnitude_context([&](int right, int down, int of) { return coded.steps(x + right, y + down, of); }, channel,
                             sign, before, steps_before, first, fine);
}

}  // namespace framewire::delta
