#pragma once

#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/blocks/step_contexts.hpp"
#include "framewire/delta/blocks/step_formulas.hpp"
#include "framewire/delta/blocks/step_pixels.hpp"
#include "framewire/delta/entropy/models/models.hpp"
#include "framewire/delta/entropy/step_reader.hpp"
#include "framewire/delta/prediction/part_modes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

// Lookup tables for reading blocks of changes, so that little work remains between one symbol and the next.

namespace framewire::delta {

/// Traits of a pixel in one number: E of format.md in the bits below this one, D from this one on.
inline constexpr int direction_bit = 2;

/// Contexts of a block while it is read: traits and steps of each pixel. Pixels that are not read yet or lie outside
/// the block have the value 0; a border around the arrays holds these zeros.
class ReadPixels {
public:
    /// Returns the traits of a pixel; x and y from -2 on.
    std::uint8_t traits(int x, int y) const { return traits_[at(x, y)]; }
    /// Returns the traits of eight pixels of a row, the first one in the lowest byte.
    std::uint64_t row_traits(int x, int y) const {
        std::uint64_t eight;
        std::memcpy(&eight, &traits_[at(x, y)], sizeof(eight));
        return eight;
    }
    /// Sets the traits of eight pixels of a row.
    void set_row_traits(int x, int y, std::uint64_t eight) { std::memcpy(&traits_[at(x, y)], &eight, sizeof(eight)); }

    /// Returns the steps of a pixel, 16 bits per channel, channel 0 in the lowest.
    std::uint64_t& steps(int x, int y) { return steps_[at(x, y)]; }

    /// Clears the traits of the sub-block at (left, top).
    void clear_traits(int left, int top) {
        for (int y = top; y < top + part_side; ++y) set_row_traits(left, y, 0);
    }
    /// Clears traits and steps of the sub-block at (left, top). A block must be clear before it is read.
    void clear_part(int left, int top) {
        clear_traits(left, top);
        for (int y = top; y < top + part_side; ++y) std::memset(&steps(left, y), 0, part_side * sizeof(std::uint64_t));
    }

private:
    static constexpr std::size_t border = 2, stride = block_side + border + 1, size = stride * (block_side + border);
    static constexpr std::size_t at(int x, int y) {
        return static_cast<std::size_t>(y + 2) * stride + static_cast<std::size_t>(x + 2);
    }

    std::array<std::uint8_t, size> traits_{};
    std::array<std::uint64_t, size> steps_{};
};

/// Contributions of the rows above to the contexts of a sub-block's row, for eight pixels at once.
struct RowAbove {
    /// Layout of `changed`: this bit is set if the pixel two above changes; the lowest `left_bits` bits are free for E
    /// of the pixel to the left.
    static constexpr int second_bit = 128, left_bits = 2;
    /// One byte for each pixel of the row.
    using Row = std::array<std::uint8_t, part_side>;

    Row changed;  ///< part of the number of changed_model()
    Row corner;   ///< traits of the pixel above left, in the upper four bits
    Row above;    ///< traits of the pixel above, and in the upper four bits those of the pixel above right
};
/// Computes the contributions. `above`, `second`: traits of the rows one and two above; `left`, `right`: traits of the
/// pixels beside the row above.
inline RowAbove row_above(std::uint64_t above, std::uint64_t second, std::uint64_t left, std::uint64_t right) {
    static_assert(std::endian::native == std::endian::little);
    constexpr std::uint64_t each = ~std::uint64_t{0} / 255;
    const auto ones = [](std::uint64_t traits) { return (traits | traits >> 1) & each; };
    const auto to_left = above << 8 | left, to_right = above >> 8 | right << 56;
    const auto row = [](std::uint64_t of) { return std::bit_cast<RowAbove::Row>(of); };
    return {row(((3 * (above & 3 * each) + 9 * (ones(to_left) + ones(to_right))) << RowAbove::left_bits) +
                RowAbove::second_bit * ones(second)),
            row(to_left << 4), row(above | to_right << 4)};
}

/// Returns the number of the model for whether a pixel changes. `told` is a byte of RowAbove::changed, with E of the
/// pixel to the left in its lowest bits, and with second_bit also set if the pixel two to the left changes.
constexpr int changed_model_of(int told) {
    const int above = told % RowAbove::second_bit >> RowAbove::left_bits, left = told % (1 << RowAbove::left_bits);
    return changed_model(left, 0, 0, told >= RowAbove::second_bit, Foretold::differences, 0) + above;
}

/// pattern_model() as the union of two table entries: `left` for the pixel to the left or else above left, `above` for
/// the pixel above or else above right. The index is the traits of the first choice, and those of the second choice in
/// the upper four bits.
struct ToldPatterns {
    std::array<std::uint8_t, 256> left, above;
};
/// The tables for all pairs of traits.
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

/// Channels of a pixel in a vector; the last lane is unused.
inline constexpr int vector_channels = 4;

/// Everything that follows from a pixel's pattern.
struct PatternReading {
    alignas(8) std::int16_t signs[vector_channels];  ///< direction of each channel: 1, -1 or 0
    alignas(8) std::int16_t
        same[vector_channels];  ///< all bits set if the previous changed channel goes in the same direction
    alignas(8) std::uint8_t
        before[2 * vector_channels];  ///< shuffle that brings each channel the previous changed channel; 128 yields 0
    std::uint8_t traits;              ///< traits of the pixel
};
/// Table of all patterns.
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

/// Traits of a pixel by the symbol of its pattern.
inline constexpr auto rank_traits = [] {
    std::array<std::uint8_t, patterns_by_frequency.size()> traits{};
    for (std::size_t rank = 0; rank < traits.size(); ++rank)
        traits[rank] = pattern_readings[patterns_by_frequency[rank]].traits;
    return traits;
}();
static_assert(patterns_by_frequency[0] == all_up && patterns_by_frequency[1] == all_down);
/// Returns true if the traits are those of a pixel whose channels all go in the same direction.
constexpr bool all_alike(unsigned traits) { return traits == rank_traits[0] || traits == rank_traits[1]; }
/// Returns that direction: 0 up, 1 down.
constexpr unsigned goes_down(unsigned traits) { return traits >> (direction_bit + 1); }
static_assert(goes_down(rank_traits[0]) == 0 && goes_down(rank_traits[1]) == 1);

/// Difference from the expected magnitude by the folded number, if the magnitude may be off in both directions.
inline constexpr std::array<std::int8_t, 8> near_magnitudes = {0, 1, -1, 2, -2, 3, -3, 4};

/// Lookup tables for one set of models.
struct ReadingTables {
    /// The magnitude models of the usual case: more than `small_magnitude` is expected, both neighbours count, and they
    /// are equal or close (0), further apart (1), or far apart (2). The first 3 are for the first channel, those from
    /// `other_channels` on for the others.
    static constexpr int alike_models = 6, other_channels = 3, small_magnitude = 11;
    /// A table entry covers 16 adjacent places.
    static constexpr unsigned guess_shift = 4, guesses_each = rans::probability_one >> guess_shift;

    /// For each of these models and every 16th place, the symbol that has this place: its start and its
    /// frequency (12 bits each), and the difference from the expected magnitude (8 bits, signed). The frequency is 0 if
    /// raw bits follow the symbol.
    std::array<std::uint32_t, std::size_t{alike_models} * guesses_each> alike;
    /// Places of the pattern in which all channels go up (0) or down (1), if those of the pixels to the left and above
    /// do the same.
    struct Places {
        std::uint32_t start, count;  ///< interval of rANS places
    };
    std::array<Places, 2> alike_pattern;
    /// By the argument of changed_model_of(): the first place that means that the pixel changes.
    std::array<std::uint16_t, 256> changes_from;

    /// Returns the first symbol of one of the models in `alike`, for the smallest expected magnitude.
    static constexpr int first(int alike_model) {
        constexpr int fine = 60, first_channel = 30, both_tell = 5;
        const int support = alike_model < other_channels ? both_tell + alike_model : alike_model - other_channels;
        return step_models::magnitude.at(fine + (alike_model < other_channels ? first_channel : 0) + 3 * support);
    }
};
/// Returns the tables for `models`, which must be an element of step_model_sets(). Builds all of them at the first
/// call.
const ReadingTables& reading_tables(const StepModels& models);

/// Reads the mode of a sub-block and returns whether it changes. Returns nothing if the mode is one of predictions, or
/// if the bytes have ended.
template <class Reader>
[[gnu::always_inline]] inline std::optional<bool> read_part_changes(StepBytes& bytes, Reader& reader,
                                                                    const StepModels& models, CodedParts& modes,
                                                                    int column, int row) {
    const auto mode =
        static_cast<PartMode>(models.read(reader, modes.mode_model(column, row), step_models::mode.symbols));
    if (bytes.behind_end(reader) || (mode != PartMode::stays && mode != PartMode::changes)) return {};
    modes.set(column, row, mode);
    return mode == PartMode::changes;
}

/// Reads the symbol of a pixel's pattern, or of its sign if gray.
template <int channels, class Reader>
[[gnu::always_inline]] inline std::size_t read_pattern(Reader& reader, const StepModels& models, int model) {
    if constexpr (channels == 1) return models.read_flag(reader, step_models::sign.at(model));
    return static_cast<std::size_t>(models.read(reader, step_models::pattern.at(model), step_models::pattern.symbols));
}

}  // namespace framewire::delta
