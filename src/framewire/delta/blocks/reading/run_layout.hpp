#pragma once

#include "framewire/delta/blocks/reading/run_parts.hpp"
#include "framewire/delta/blocks/runs.hpp"
#include "framewire/delta/blocks/step_contexts.hpp"
#include "framewire/delta/blocks/step_pixels.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

// Memory layout of sub-blocks in runs before and after their magnitudes are computed, and the state that passes from
// one sub-block to the next. run_lanes-inl.hpp explains the skewed lanes.

namespace framewire::delta {
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

/// Set of behaviours that occur among some pixels.
enum Does : std::uint8_t { some_go_up = 1, some_go_down = 2, some_stay = 4, anything = 7 };

/// Behaviours of the pixels of a row, and of the last of its eight pixels.
struct RowDoes {
    std::uint8_t all, last;
};
/// Table by RowKind. A mixed row may contain anything.
constexpr std::array<RowDoes, 8> row_does = {{{some_stay, some_stay},
                                              {some_go_up, some_go_up},
                                              {some_go_down, some_go_down},
                                              {anything, anything},
                                              {some_go_up | some_stay, some_go_up},
                                              {some_go_up | some_stay, some_stay},
                                              {some_go_down | some_stay, some_go_down},
                                              {some_go_down | some_stay, some_stay}}};

/// Returns the lane in which the pixels of row `y` of a channel begin: each row and each channel is skewed by one.
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

    /// Returns the common direction of all changed pixels. Meaningless if there is none.
    std::uint8_t way() const { return does & some_go_down ? down : up; }
};

/// Resets the state between sub-blocks. Pixels outside the block stay.
inline void begin_block(RunPartMaker& maker) {
    maker.above = {};
    maker.ways_above = {};
    maker.left = {};
    for (auto* does : {&maker.above_does, &maker.above_end_does, &maker.left_does, &maker.corner_does})
        does->fill(some_stay);
}

/// Returns the behaviours of a sub-block's pixels and of those around it, and stores those of its last row and column
/// for the sub-blocks after it.
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

/// Updates the state between sub-blocks for one without changes.
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

/// Writes the folded magnitudes of a sub-block, and with `has_ways` the directions, into place `at` of a pair. `folded`
/// points to the sub-block's first magnitude.
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
        // The last pixel of the last channel would lie one byte beyond its row. It goes into a turn of its own.
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

/// Returns 1 in each byte that is not 0.
constexpr std::uint64_t ones_where_any(std::uint64_t eight) {
    constexpr std::uint64_t lower = 0x7f * each_byte;
    return (((eight & lower) + lower) | eight) >> 7 & each_byte;
}

}  // namespace run_layout
}  // namespace framewire::delta
