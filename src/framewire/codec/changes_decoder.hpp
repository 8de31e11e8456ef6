#pragma once

#include "framewire/codec/blocks.hpp"
#include "framewire/codec/changes_coder.hpp"
#include "framewire/codec/coder_tables.hpp"
#include "framewire/codec/models.hpp"
#include "framewire/codec/prediction.hpp"
#include "framewire/codec/sub_block_contexts.hpp"
#include "framewire/codec/symbols.hpp"
#include "framewire/core/view.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

// Lookup tables for reading blocks of changes. They reduce the work between one symbol and the next.

namespace framewire::codec {

/// Lowest bit of D (format.md) in the traits of a pixel; E occupies the bits below.
inline constexpr int direction_bit = 2;

/// Contexts of a block while it is read: the traits and steps of each pixel. They are 0 for pixels that are not read
/// yet or lie outside the block, for which the arrays have a border.
class ReadPixels {
public:
    /// Returns the traits of a pixel; x and y are at least -2.
    std::uint8_t traits(int x, int y) const { return traits_[at(x, y)]; }
    /// Returns the traits of eight pixels of a row, the first one in the lowest byte.
    std::uint64_t row_traits(int x, int y) const {
        std::uint64_t eight;
        std::memcpy(&eight, &traits_[at(x, y)], sizeof(eight));
        return eight;
    }
    /// Sets the traits of eight pixels of a row.
    void set_row_traits(int x, int y, std::uint64_t eight) { std::memcpy(&traits_[at(x, y)], &eight, sizeof(eight)); }

    /// Returns the steps of a pixel as 16 bits per channel, with channel 0 in the lowest bits.
    std::uint64_t& steps(int x, int y) { return steps_[at(x, y)]; }

    /// Clears the traits of the sub-block at (left, top).
    void clear_traits(int left, int top) {
        for (int y = top; y < top + part_side; ++y) set_row_traits(left, y, 0);
    }
    /// Clears the traits and steps of the sub-block at (left, top). All sub-blocks must be clear before a block is
    /// read.
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

/// Contributions of the two rows above to the contexts of a sub-block's row, for eight pixels.
struct RowAbove {
    /// Layout of `changed`: `second_bit` is set if the pixel two above changes; the lowest `left_bits` bits are left
    /// free for E of the pixel to the left.
    static constexpr int second_bit = 128, left_bits = 2;
    /// One byte per pixel of the row.
    using Row = std::array<std::uint8_t, part_side>;

    Row changed;  ///< contribution to the number of the changed model, in the layout above
    Row corner;   ///< traits of the pixel above left, in the upper four bits
    Row above;    ///< traits of the pixel above; in the upper four bits, those of the pixel above right
};
/// Computes the contributions. `above` and `second` are the traits of the rows one and two above; `left` and `right`
/// are the traits of the pixels beside the row above.
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

/// Returns the number of the model for whether a pixel changes. `signalled` is a byte of RowAbove::changed; the caller
/// has added E of the pixel to the left in the lowest bits, and has set second_bit if the pixel two to the left
/// changes.
constexpr int changed_model_of(int signalled) {
    const int above = signalled % RowAbove::second_bit >> RowAbove::left_bits,
              left = signalled % (1 << RowAbove::left_bits);
    return changed_model(left, 0, 0, signalled >= RowAbove::second_bit, Predicted::differences, 0) + above;
}

/// Tables that compute pattern_model() as the bitwise or of two entries: `left` for the pixel to the left, or the one
/// above left if the former is unchanged; `above` for the pixel above, or else the one above right. An index has the
/// traits of the first pixel in the lower four bits and those of the second in the upper four.
struct SignalledPatterns {
    std::array<std::uint8_t, 256> left, above;
};
/// The tables for all pairs of traits.
inline constexpr auto signalled_patterns = [] {
    SignalledPatterns signalled{};
    for (int i = 0; i < 256; ++i) {
        const int one = i & 15, other = i >> 4;
        const int direction = (one ? one : other) >> direction_bit, whole = (one & 3) == 2 ? 16 : 0;
        signalled.left[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(direction | whole);
        signalled.above[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(direction << 2 | whole);
    }
    return signalled;
}();

/// Number of lanes of a SIMD vector with the channels of a pixel; the last lane is unused.
inline constexpr int vector_channels = 4;

/// Values that depend only on the pattern of a pixel.
struct PatternReading {
    alignas(8) std::int16_t signs[vector_channels];  ///< direction of each channel: 1, -1 or 0
    alignas(8) std::int16_t same[vector_channels];   ///< all bits set if the previously coded changed channel goes in
                                                     ///< the same direction, else 0
    alignas(8) std::uint8_t before[2 * vector_channels];  ///< shuffle that moves the previously coded changed channel
                                                          ///< into each lane; 128 yields 0
    std::uint8_t traits;                                  ///< traits of the pixel
};
/// PatternReading of each pattern.
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

/// Traits of a pixel, indexed by the symbol of its pattern.
inline constexpr auto rank_traits = [] {
    std::array<std::uint8_t, patterns_by_frequency.size()> traits{};
    for (std::size_t rank = 0; rank < traits.size(); ++rank)
        traits[rank] = pattern_readings[patterns_by_frequency[rank]].traits;
    return traits;
}();
static_assert(patterns_by_frequency[0] == all_up && patterns_by_frequency[1] == all_down);
/// Returns true if all channels of a pixel with these traits go in the same direction.
constexpr bool all_alike(unsigned traits) { return traits == rank_traits[0] || traits == rank_traits[1]; }
/// Returns the direction of a pixel if all_alike(traits): 0 up, 1 down.
constexpr unsigned goes_down(unsigned traits) { return traits >> (direction_bit + 1); }
static_assert(goes_down(rank_traits[0]) == 0 && goes_down(rank_traits[1]) == 1);

/// Difference from the expected magnitude, indexed by the folded number, for magnitudes that can be larger or smaller
/// than expected.
inline constexpr std::array<std::int8_t, 8> near_magnitudes = {0, 1, -1, 2, -2, 3, -3, 4};

/// Lookup tables for one set of models.
struct ReadingTables {
    /// Number of magnitude models in the usual case: the expected magnitude exceeds `small_magnitude`, and both
    /// neighbours count. The neighbours are equal or close in model 0, further apart in model 1, and far apart in model
    /// 2. Models 0 to 2 are for the first channel, and those from `other_channels` on for the others.
    static constexpr int alike_models = 6, other_channels = 3, small_magnitude = 11;
    /// A table entry covers 16 adjacent places.
    static constexpr unsigned guess_shift = 4, guesses_each = rans::probability_one >> guess_shift;

    /// Table by these models and every 16th place. An entry is the symbol with this place: its start and its frequency
    /// (12 bits each), and the difference from the expected magnitude (8 bits, signed). The frequency is 0 if raw bits
    /// follow the symbol.
    std::array<std::uint32_t, std::size_t{alike_models} * guesses_each> alike;
    /// Places of the pattern in which all channels go up (index 0 of `alike_pattern`) or down (index 1), if the pixels
    /// to the left and above have the same pattern.
    struct Places {
        std::uint32_t start, count;  ///< interval of rANS places
    };
    std::array<Places, 2> alike_pattern;
    /// First place of the symbol for a changed pixel, indexed by the argument of changed_model_of().
    std::array<std::uint16_t, 256> changes_from;

    /// Returns the first symbol of one of the models of `alike` in its variant for the smallest expected magnitude.
    static constexpr int first(int alike_model) {
        constexpr int fine = 60, first_channel = 30, both_tell = 5;
        const int support = alike_model < other_channels ? both_tell + alike_model : alike_model - other_channels;
        return step_models::magnitude.at(fine + (alike_model < other_channels ? first_channel : 0) + 3 * support);
    }
};
/// Returns the tables for `models`, which must be an element of step_model_sets(). Builds the tables for all sets at
/// the first call.
const ReadingTables& reading_tables(const StepModels& models);

/// Reads the mode of a sub-block and returns whether the sub-block changes. Returns nothing if only predictions have
/// this mode, or if the read went beyond the end of the bytes.
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

/// Reads and returns the symbol of a pixel's pattern, or of its sign in gray pictures.
template <int channels, class Reader>
[[gnu::always_inline]] inline std::size_t read_pattern(Reader& reader, const StepModels& models, int model) {
    if constexpr (channels == 1) return models.read_flag(reader, step_models::sign.at(model));
    return static_cast<std::size_t>(models.read(reader, step_models::pattern.at(model), step_models::pattern.symbols));
}

/// Contents of a sub-block in runs without its magnitudes, which come later in the stream.
struct RunPart {
    /// Number of bytes that must be readable before and after the folded magnitudes.
    static constexpr std::size_t padding = 8;

    int left, top, width, height;        ///< position in the block and size, in pixels
    std::array<RunRow, part_side> rows;  ///< kinds and edges from the top; rows beyond `height` are unchanged
    /// Patterns of the pixels of mixed rows.
    std::array<std::array<Pattern, part_side>, part_side> mixed;
    std::array<int, 3> counts;  ///< number of magnitudes per channel, in coding order
    std::uint32_t first;        ///< index of the sub-block's first magnitude among those of the block
};

/// Reconstructs the differences of blocks in runs from their folded magnitudes. Not thread-safe. The object is large,
/// so keep one per thread instead of creating one per block.
class RunPartMaker {
public:
    /// Reconstructs one block. `parts` has the sub-blocks in `changed`, in coding order. `folded` points to all
    /// magnitudes of the block, each less than max_steps, with RunPart::padding readable bytes before and after them.
    /// Writes the differences of these sub-blocks to `tile`, which has 64x64 pixels. Returns false if a difference is
    /// too large for a byte.
    bool make(const BlockPlace& block, std::span<const RunPart> parts, PartSet changed, const std::uint8_t* folded,
              int threshold, HostView<std::uint8_t> tile);

    /// A pair of sub-blocks that do not depend on each other is computed in the same SIMD vectors. There is a lane for
    /// each row of both sub-blocks in each of four channels, of which at most three are used.
    static constexpr std::size_t of_pair = 2, channel_lanes = of_pair * part_side, lanes = 4 * channel_lanes;
    /// One byte per lane.
    using Lanes = std::array<std::uint8_t, lanes>;
    /// Rows of pixels, with `channel_lanes` bytes per channel. The rows of the second sub-block follow those of the
    /// first.
    using Rows = std::array<Lanes, channel_lanes>;

    /// Working memory for a pair of sub-blocks.
    struct Pair {
        // Folded magnitudes plus 1 (0 for unchanged pixels), and directions. Each row is shifted by one byte from the
        // row above it, and each channel by one byte from the previous one. The bytes beside the pixels are 0.
        alignas(64) Rows folded{}, ways{};
        // The arrays above, transposed to turns; the magnitudes then replace the folded ones. The last turn does not
        // fit into the rows, so it is stored separately.
        alignas(64) Rows by_turns, ways_by_turns;
        alignas(64) Lanes last_turn{}, last_ways{};
        // Pixels above each sub-block, beginning with the corner, and pixels to the left of both sub-blocks.
        alignas(64) std::array<Lanes, of_pair> above{}, ways_above{};
        alignas(64) Lanes left{}, ways_left{};
        alignas(64) Rows made;  // differences as bytes, in the layout of `folded`
    };
    /// Number of pairs, and number of sub-blocks, that are computed together. Each turn waits for the previous one, so
    /// a second pair fills the gaps.
    static constexpr std::size_t most_pairs = 2, at_once = most_pairs * of_pair;
    std::array<Pair, most_pairs> pairs;

    // State between sub-blocks. Per channel: the row above the next row of sub-blocks. Per row of sub-blocks: the
    // column to the left of its next sub-block, and the corner above that column.
    using Pixels = std::array<std::array<std::uint8_t, block_side>, 3>;
    Pixels above, ways_above;
    /// Column to the left of a sub-block, and the pixel above that column.
    struct Left {
        std::array<std::array<std::uint8_t, part_side>, 3> magnitudes, ways;
        std::array<std::uint8_t, 3> corner, corner_way;
    };
    std::array<Left, parts_per_row> left;
    // Behaviours of these pixels, as bits of run_layout::Does.
    std::array<std::uint8_t, parts_per_row> above_does, above_end_does, left_does, corner_does;
};

}  // namespace framewire::codec

// Memory layout of run-coded sub-blocks, before and after their magnitudes are computed, and the state passed from one
// sub-block to the next. runs_reader.cpp explains the skewed lanes.

namespace framewire::codec {
namespace run_layout {

/// The number 1 in each of eight bytes.
constexpr std::uint64_t each_byte = ~std::uint64_t{0} / 255;

/// Loads eight bytes from any address.
inline std::uint64_t load_eight(const std::uint8_t* from) {
    std::uint64_t eight;
    std::memcpy(&eight, from, sizeof(eight));
    return eight;
}
/// Stores eight bytes to any address.
inline void store_eight(std::uint64_t eight, std::uint8_t* to) { std::memcpy(to, &eight, sizeof(eight)); }

/// Directions of pixels, as bytes.
constexpr std::uint8_t up = 1, down = 2;

/// Set of the behaviours that occur among some pixels.
enum Does : std::uint8_t { some_go_up = 1, some_go_down = 2, some_stay = 4, anything = 7 };

/// Behaviours of all pixels of a row, and of the last of its eight pixels.
struct RowDoes {
    std::uint8_t all, last;
};
/// Behaviours by RowKind. A mixed row may contain any of them.
constexpr std::array<RowDoes, 8> row_does = {{{some_stay, some_stay},
                                              {some_go_up, some_go_up},
                                              {some_go_down, some_go_down},
                                              {anything, anything},
                                              {some_go_up | some_stay, some_go_up},
                                              {some_go_up | some_stay, some_stay},
                                              {some_go_down | some_stay, some_go_down},
                                              {some_go_down | some_stay, some_stay}}};

/// Returns the byte at which the pixels of row `y` of a channel begin; each row and each channel is shifted by one.
constexpr std::size_t slanted(std::size_t channel, std::size_t y) {
    return RunPartMaker::channel_lanes * channel + y + channel;
}
/// Returns the first lane of a channel of one of the two sub-blocks of a pair.
constexpr std::size_t lanes_of(std::size_t channel, std::size_t part) {
    return RunPartMaker::channel_lanes * channel + part_side * part;
}

/// A sub-block that is about to be computed.
struct Made {
    const RunPart* part;
    std::size_t column, row;  ///< position among the sub-blocks of the block
    std::uint8_t does;        ///< behaviours of its pixels and of the pixels around it

    /// Returns the direction that all changed pixels have in common. Meaningless if there is none.
    std::uint8_t way() const { return does & some_go_down ? down : up; }
};

/// Resets the state between sub-blocks. Pixels outside the block are unchanged.
inline void begin_block(RunPartMaker& maker) {
    maker.above = {};
    maker.ways_above = {};
    maker.left = {};
    for (auto* does : {&maker.above_does, &maker.above_end_does, &maker.left_does, &maker.corner_does})
        does->fill(some_stay);
}

/// Returns the behaviours of the pixels in a sub-block and around it. Stores those of its last row and column for the
/// following sub-blocks.
inline std::uint8_t look_around(const RunPart& part, std::size_t column, std::size_t row, RunPartMaker& maker) {
    std::uint8_t does = part.width < part_side || part.height < part_side ? some_stay : 0, last_column = 0;
    RowDoes last{};
    for (const auto& of : part.rows) {
        last = row_does[static_cast<std::size_t>(of.kind)];
        does |= last.all;
        last_column |= last.last;
    }
    const auto around = maker.above_does[column] | maker.left_does[row] | maker.corner_does[row];
    maker.corner_does[row] = maker.above_end_does[column];
    maker.above_does[column] = last.all;
    maker.above_end_does[column] = last.last;
    maker.left_does[row] = last_column;
    return static_cast<std::uint8_t>(does | around);
}

/// Updates the state between sub-blocks after a sub-block without changes.
inline void pass(std::size_t column, std::size_t row, RunPartMaker& maker) {
    auto& left = maker.left[row];
    left.magnitudes = left.ways = {};
    for (std::size_t i = 0; i < left.corner.size(); ++i) {
        auto *const above = &maker.above[i][column * part_side], *const way = &maker.ways_above[i][column * part_side];
        left.corner[i] = above[part_side - 1];
        left.corner_way[i] = way[part_side - 1];
        store_eight(0, above);
        store_eight(0, way);
    }
    maker.corner_does[row] = maker.above_end_does[column];
    maker.above_does[column] = maker.above_end_does[column] = maker.left_does[row] = some_stay;
}

/// Writes the folded magnitudes of a sub-block, and its directions if `has_ways` is set, to place `at` of a pair.
/// `folded` points to the sub-block's first magnitude.
template <int channels, bool has_ways>
void lay_out(const RunPart& part, const std::uint8_t* folded, std::size_t at, RunPartMaker::Pair& pair) {
    std::array<const std::uint8_t*, channels> next;
    for (std::size_t i = 0; i < channels; ++i) {
        next[i] = folded;
        folded += part.counts[i];
    }
    const auto first_row = part_side * at;
    const auto store = [&](std::size_t i, std::size_t y, std::uint64_t pixels, std::uint64_t ways) {
        store_eight(pixels, &pair.folded[first_row + y][slanted(i, y)]);
        if (has_ways) store_eight(ways, &pair.ways[first_row + y][slanted(i, y)]);
    };
    // All bytes are less than 255, so adding 1 to each never carries into the next byte.
    const bool all_change = !has_ways && part.counts[0] == part_side * part_side;
    for (std::size_t i = 0; all_change && i < channels; ++i)
        for (std::size_t y = 0; y < part_side; ++y) store(i, y, load_eight(next[i] + part_side * y) + each_byte, 0);
    for (std::size_t y = 0; !all_change && y < part_side; ++y) {
        const auto& row = part.rows[y];
        if (row.kind == RowKind::mixed) {
            for (std::size_t i = 0; i < channels; ++i) {
                const auto channel = static_cast<std::size_t>(channels == 1 ? 0 : channel_order[i]);
                std::uint64_t pixels = 0, ways = 0;
                for (int x = 0; x < part.width; ++x) {
                    const int sign = pattern_signs[part.mixed[y][static_cast<std::size_t>(x)]][channel];
                    if (sign == 0) continue;
                    pixels |= (std::uint64_t{*next[i]++} + 1) << (8 * x);
                    ways |= std::uint64_t{sign > 0 ? up : down} << (8 * x);
                }
                store(i, y, pixels, ways);
            }
            continue;
        }
        const auto run = row.bytes(part.width);
        const auto ways = run & (each_byte * (row.goes_down() ? down : up));
        const int count = std::popcount(run) / 8, first = run ? std::countr_zero(run) / 8 : 0;
        for (std::size_t i = 0; i < channels; ++i) {
            store(i, y, (load_eight(next[i] - first) + each_byte) & run, ways);
            next[i] += count;
        }
    }
    if constexpr (channels == 3) {
        // The last pixel of the last channel would lie one byte beyond its row, so it is stored in a separate turn.
        constexpr std::size_t last = part_side - 1, byte = slanted(2, last) + last;
        const auto row = first_row + last, lane = lanes_of(2, at) + last;
        pair.last_turn[lane] = std::exchange(pair.folded[row][byte], std::uint8_t{0});
        if (has_ways) pair.last_ways[lane] = pair.ways[row][byte];
    }
}
/// Clears the second place of a pair.
template <int channels>
void lay_out_nothing(RunPartMaker::Pair& pair) {
    for (std::size_t y = 0; y < part_side; ++y)
        for (std::size_t i = 0; i < channels; ++i) store_eight(0, &pair.folded[part_side + y][slanted(i, y)]);
    if constexpr (channels == 3) {
        pair.folded[2 * part_side - 1][slanted(2, part_side - 1) + part_side - 1] = 0;
        pair.last_turn[lanes_of(2, 1) + part_side - 1] = 0;
    }
}

/// Copies the pixels above a sub-block and to its left into place `at` of a pair, and stores the corner of the next
/// sub-block.
template <int channels, bool has_ways>
void take_surroundings(const Made& of, RunPartMaker& maker, std::size_t at, RunPartMaker::Pair& pair) {
    auto& left = maker.left[of.row];
    const auto first = of.column * part_side;
    for (std::size_t i = 0; i < channels; ++i) {
        const auto lanes = lanes_of(i, at), begin = slanted(i, 0);
        auto& above = pair.above[at];
        above[begin] = left.corner[i];
        store_eight(load_eight(&maker.above[i][first]), &above[begin + 1]);
        store_eight(load_eight(left.magnitudes[i].data()), &pair.left[lanes]);
        if (has_ways) {
            auto& ways = pair.ways_above[at];
            ways[begin] = left.corner_way[i];
            store_eight(load_eight(&maker.ways_above[i][first]), &ways[begin + 1]);
            store_eight(load_eight(left.ways[i].data()), &pair.ways_left[lanes]);
        }
        left.corner[i] = maker.above[i][first + part_side - 1];
        left.corner_way[i] = maker.ways_above[i][first + part_side - 1];
    }
}

/// Returns a number with 1 in each byte in which `eight` is not 0, and 0 in the others.
constexpr std::uint64_t ones_where_any(std::uint64_t eight) {
    constexpr std::uint64_t lower = 0x7f * each_byte;
    return (((eight & lower) + lower) | eight) >> 7 & each_byte;
}

}  // namespace run_layout

/// Result of reading a block of changes.
struct FoundChanges {
    bool whole;           ///< false if the bytes are broken
    std::uint32_t count;  ///< number of nonzero differences
    PartSet parts;        ///< sub-blocks that may have differences; valid even if the bytes are broken
};

/// Reader for the form "changes in runs". Not thread-safe.
class RunsReader {
public:
    /// Reads a block. `bytes` begins after the number that identifies the form. `words` and `pixels` are working
    /// memory; the other arguments and the result are those of ChangesDecoder::decode(). Afterwards, the caller must
    /// clear the traits of the changed sub-blocks in `pixels`.
    FoundChanges read(StepBytes& words, std::span<const std::uint8_t> bytes, const BlockPlace& block, int threshold,
                      HostView<std::uint8_t> tile, HostView<const std::uint8_t> held, ReadPixels& pixels);

    // Intermediate results: the sub-blocks, the numbers and classes of their magnitudes, and the folded magnitudes.
    std::array<RunPart, std::size_t{parts_per_row} * parts_per_row> parts;
    std::size_t part_count = 0;
    std::array<ResidualPart, 3 * std::size_t{parts_per_row} * parts_per_row> sizes;
    std::size_t size_count = 0;
    std::array<std::uint8_t, std::size_t{3} * block_side * block_side + 2 * RunPart::padding> magnitudes;

private:
    RunPartMaker maker_;
};

/// Decoder for the forms "changes" and "changes in runs" of format.md. Never writes outside the block. It rejects
/// inconsistent bytes, but some damage is undetectable and decodes to wrong changes within the block. Not thread-safe;
/// keeps its memory between calls.
class ChangesDecoder {
public:
    /// Result of decode().
    using Found = FoundChanges;
    /// Decodes one block. Writes the differences of the changed sub-blocks to `tile`, which always has 64x64 pixels,
    /// even for smaller blocks at the edges of the frame. If `whole` of the result is false, the bytes are broken, and
    /// the tile may be partly written. `held` is the frame to which the caller will add the differences; the decoder
    /// only prefetches its bytes.
    Found decode(std::span<const std::uint8_t> bytes, const BlockPlace& block, int threshold,
                 HostView<std::uint8_t> tile, HostView<const std::uint8_t> held);

private:
    Found decode_runs(std::span<const std::uint8_t> bytes, const BlockPlace& block, int threshold,
                      HostView<std::uint8_t> tile, HostView<const std::uint8_t> held);

    StepBytes bytes_;
    ReadPixels pixels_;
    RunsReader runs_;
};

}  // namespace framewire::codec
