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

    /// Makes a part what it was at first: what its pixels tell, and their steps.
    void clear_traits(int left, int top) {
        for (int y = top; y < top + part_side; ++y) set_row_traits(left, y, 0);
    }
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

/// What the pixels above say to those of a part's row.
struct RowAbove {
    /// Of `changed`, where the second one above changes; below that what the one to the left says is added.
    static constexpr int second_bit = 128, left_bits = 2;
    using Row = std::array<std::uint8_t, part_side>;

    Row changed;  ///< to changed_model()
    Row corner;   ///< the traits of the one above to the left, in the upper four bits
    Row above;    ///< those of the one above, and of the one to its right in the upper four bits
};
/// `above`, `second`: traits of the rows above; `left`, `right`: of the pixels beside the first of them.
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

/// The model of whether a pixel changes: by RowAbove's byte, with second_bit where the second one to the left changes,
/// and the extent of the one to the left.
constexpr int changed_model_of(int told) {
    const int above = told % RowAbove::second_bit >> RowAbove::left_bits, left = told % (1 << RowAbove::left_bits);
    return changed_model(left, 0, 0, told >= RowAbove::second_bit, Foretold::differences, 0) + above;
}

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
/// Whether all channels of a pixel go the same way, by what it tells; which way is then a bit of that.
constexpr bool all_alike(unsigned traits) { return traits == rank_traits[0] || traits == rank_traits[1]; }
constexpr unsigned goes_down(unsigned traits) { return traits >> (direction_bit + 1); }
static_assert(goes_down(rank_traits[0]) == 0 && goes_down(rank_traits[1]) == 1);

/// How far from what was expected a magnitude is that folds to so much, where it may be off both ways.
inline constexpr std::array<std::int8_t, 8> near_magnitudes = {0, 1, -1, 2, -2, 3, -3, 4};

/// What reading looks up of a set of models beside the models.
struct ReadingTables {
    /// Models of magnitudes where more than `small_magnitude` is expected, both neighbours tell and agree (0), nearly
    /// agree (1), or do not (2): of the first channel, and from other_channels on of the others.
    static constexpr int alike_models = 6, other_channels = 3, small_magnitude = 11;
    static constexpr unsigned guess_shift = 4, guesses_each = rans::probability_one >> guess_shift;

    /// For each of those, of every 16th place whose it mostly is: where that begins, how many places it has (12 bits
    /// each), and how far off a magnitude is then (8 bits, signed). No places where bits follow.
    std::array<std::uint32_t, std::size_t{alike_models} * guesses_each> alike;
    /// Where all channels of the pixels to the left and above go up (0), or down (1): the places of the pattern that
    /// does so, too.
    struct Places {
        std::uint32_t start, count;
    };
    std::array<Places, 2> alike_pattern;
    /// Of changed_model_of() the place from which on a pixel changes.
    std::array<std::uint16_t, 256> changes_from;

    /// The first symbol of such a model, for a size of 0.
    static constexpr int first(int alike_model) {
        constexpr int fine = 60, first_channel = 30, both_tell = 5;
        const int support = alike_model < other_channels ? both_tell + alike_model : alike_model - other_channels;
        return step_models::magnitude.at(fine + (alike_model < other_channels ? first_channel : 0) + 3 * support);
    }
};
/// `models`: one of step_model_sets().
const ReadingTables& reading_tables(const StepModels& models);

/// Reads whether a part changes. None where it has a mode of predictions, or more was read than there is.
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

/// The rank of a pixel's pattern.
template <int channels, class Reader>
[[gnu::always_inline]] inline std::size_t read_pattern(Reader& reader, const StepModels& models, int model) {
    if constexpr (channels == 1) return models.read_flag(reader, step_models::sign.at(model));
    return static_cast<std::size_t>(models.read(reader, step_models::pattern.at(model), step_models::pattern.symbols));
}

}  // namespace framewire::delta
