#pragma once

#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/blocks/step_formulas.hpp"
#include "framewire/delta/entropy/models/models.hpp"

#include <array>
#include <cstdint>
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

/// The model of whether a pixel changes.
constexpr int changed_model(const CodedPixels::Neighbours& near, Foretold by, int slope) {
    const auto& extent = pattern_traits.extent;
    return changed_model(extent[near.left], extent[near.above], (near.above_left != 0) + (near.above_right != 0),
                         near.second, by, slope);
}

/// The model of which of its channels do, or of a gray pixel's sign.
inline int pattern_model(const CodedPixels::Neighbours& near) {
    const auto& traits = pattern_traits;
    const int left = traits.direction[near.left ? near.left : near.above_left];
    const int above = traits.direction[near.above ? near.above : near.above_right];
    return left + 4 * above + 16 * (traits.extent[near.left] == 2 || traits.extent[near.above] == 2);
}

/// magnitude_context() of a channel of the pixel (x, y).
[[gnu::always_inline]] inline MagnitudeContext magnitude_context(const CodedPixels& coded, int x, int y, int channel,
                                                                 int sign, int before, int steps_before, bool first,
                                                                 bool fine) {
    return magnitude_context([&](int right, int down, int of) { return coded.steps(x + right, y + down, of); }, channel,
                             sign, before, steps_before, first, fine);
}

}  // namespace framewire::delta
