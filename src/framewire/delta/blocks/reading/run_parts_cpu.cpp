#include "framewire/core/simd/simd.hpp"
#include "framewire/delta/blocks/reading/run_parts.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/delta/blocks/reading/run_parts_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "framewire/delta/blocks/reading/run_lanes-inl.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

// What all instruction sets share; once, though this source is compiled for each.
#ifndef FRAMEWIRE_DELTA_RUN_PARTS_SHARED
#define FRAMEWIRE_DELTA_RUN_PARTS_SHARED

namespace framewire::delta {
namespace run_parts_shared {

constexpr std::uint64_t each_byte = ~std::uint64_t{0} / 255;

inline std::uint64_t load_eight(const std::uint8_t* from) {
    std::uint64_t eight;
    std::memcpy(&eight, from, sizeof(eight));
    return eight;
}
inline void store_eight(std::uint64_t eight, std::uint8_t* to) { std::memcpy(to, &eight, sizeof(eight)); }

/// Which way pixels go, as a byte.
constexpr std::uint8_t up = 1, down = 2;

/// What pixels do, as bits.
enum Does : std::uint8_t { some_go_up = 1, some_go_down = 2, some_stay = 4, anything = 7 };

/// What the pixels of a row do, and the last of eight.
struct RowDoes {
    std::uint8_t all, last;
};
constexpr std::array<RowDoes, 8> row_does = {{{some_stay, some_stay},
                                              {some_go_up, some_go_up},
                                              {some_go_down, some_go_down},
                                              {anything, anything},
                                              {some_go_up | some_stay, some_go_up},
                                              {some_go_up | some_stay, some_stay},
                                              {some_go_down | some_stay, some_go_down},
                                              {some_go_down | some_stay, some_stay}}};

/// Where a row of a channel of a part begins in its lanes.
constexpr std::size_t slanted(std::size_t channel, std::size_t y) {
    return RunPartMaker::channel_lanes * channel + y + channel;
}
/// The lanes of a channel of one of two parts.
constexpr std::size_t lanes_of(std::size_t channel, std::size_t part) {
    return RunPartMaker::channel_lanes * channel + part_side * part;
}

/// A part to be made, and what is known of it.
struct Made {
    const RunPart* part;
    std::size_t column, row;
    std::uint8_t does;  ///< with the pixels around it

    std::uint8_t way() const { return does & some_go_down ? down : up; }
};

inline void begin_block(RunPartMaker& maker) {
    maker.above = {};
    maker.ways_above = {};
    maker.left = {};
    for (auto* does : {&maker.above_does, &maker.above_end_does, &maker.left_does, &maker.corner_does})
        does->fill(some_stay);
}

/// Notes what a part and the pixels around it do, and leaves what its own do to those after it.
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

/// Passes a part without changes.
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

/// Lays out what is read of a part, as number `at` of a pair. `has_ways`: those count.
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
    // Bytes are less than 255, so that none carries over to the next one.
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
        // The last channel's last pixel is beyond its row, where a lane has it that has none.
        constexpr std::size_t last = part_side - 1, byte = slanted(2, last) + last;
        const auto row = first_row + last, lane = lanes_of(2, at) + last;
        pair.last_turn[lane] = std::exchange(pair.folded[row][byte], std::uint8_t{0});
        if (has_ways) pair.last_ways[lane] = pair.ways[row][byte];
    }
}
/// Leaves the second place empty.
template <int channels>
void lay_out_nothing(RunPartMaker::Pair& pair) {
    for (std::size_t y = 0; y < part_side; ++y)
        for (std::size_t i = 0; i < channels; ++i) store_eight(0, &pair.folded[part_side + y][slanted(i, y)]);
    if constexpr (channels == 3) {
        pair.folded[2 * part_side - 1][slanted(2, part_side - 1) + part_side - 1] = 0;
        pair.last_turn[lanes_of(2, 1) + part_side - 1] = 0;
    }
}

/// Lays out the pixels above a part and to its left, and leaves the corner of the next part.
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

/// 1 in each byte that is not 0.
constexpr std::uint64_t ones_where_any(std::uint64_t eight) {
    constexpr std::uint64_t lower = 0x7f * each_byte;
    return (((eight & lower) + lower) | eight) >> 7 & each_byte;
}

}  // namespace run_parts_shared
}  // namespace framewire::delta

#endif

HWY_BEFORE_NAMESPACE();
namespace framewire::delta::HWY_NAMESPACE {
namespace run_parts {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using namespace run_parts_shared;
using namespace run_lanes;

/// Makes the magnitudes of the parts that are laid out in `pairs`, as rows in place of turns.
template <int channels, Likeness like, std::size_t count>
HWY_INLINE void make_magnitudes(RunPartMaker::Pair* pairs) {
    [&]<std::size_t... i>(std::index_sequence<i...>) HWY_ATTR __attribute__((always_inline)) {
        (transpose<channels>(pairs[i].folded, pairs[i].by_turns), ...);
        if (like == Likeness::none) (transpose<channels>(pairs[i].ways, pairs[i].ways_by_turns), ...);
        Chain<channels, like> chains[] = {Chain<channels, like>(pairs[i])...};
        for (std::size_t turn = 0; turn < row_turns; ++turn)
            (chains[i].pass(turn, pairs[i].by_turns[turn], pairs[i].ways_by_turns[turn], pairs[i].by_turns[turn]), ...);
        RunPartMaker::Lanes made;
        if constexpr (has_last_turn<channels>)
            (chains[i].pass(row_turns, pairs[i].last_turn, pairs[i].last_ways, made), ...);
        (chains[i].leave(pairs[i]), ...);
        (transpose<channels>(pairs[i].by_turns, pairs[i].by_turns), ...);
    }
    (std::make_index_sequence<count>());
    if constexpr (has_last_turn<channels>) {
        constexpr std::size_t last = part_side - 1;
        for (auto& pair : std::span(pairs, count))
            for (std::size_t at = 0; at < RunPartMaker::of_pair; ++at)
                pair.by_turns[part_side * at + last][slanted(2, last) + last] = pair.left[lanes_of(2, at) + last];
    }
}

/// Writes what the magnitudes of a part make of bytes. False where one is too far.
template <int channels>
HWY_INLINE bool give_rows(const Made& of, std::size_t at, bool has_ways, int threshold, HostView<std::uint8_t> tile,
                          RunPartMaker::Pair& pair) {
    const Lanes<channels> d;
    constexpr std::size_t n = vector_lanes<channels>, last = part_side - 1;
    const hn::FixedTag<std::uint8_t, part_side> eight;
    const auto& part = *of.part;
    const auto number = [&](int value) HWY_ATTR { return hn::Set(d, static_cast<std::uint8_t>(value)); };
    const auto zero = hn::Zero(d), limit = number(threshold), most = number(max_steps - threshold);
    const auto all_down = number(of.way() == down ? 0xff : 0);
    auto furthest = zero;
    const auto first_row = part_side * at;
    // First all of them: what is stored as vectors is not there at once as eight bytes.
    for (std::size_t y = 0; y < part_side; ++y) {
        auto& row = pair.made[first_row + y];
        for (std::size_t v = 0; v < vectors_of<channels>; ++v) {
            const auto magnitude = hn::Load(d, &pair.by_turns[first_row + y][v * n]);
            furthest = hn::Max(furthest, magnitude);
            const auto far = hn::IfThenZeroElse(hn::Eq(magnitude, zero), hn::Add(magnitude, limit));
            auto goes_down = all_down;
            if (has_ways)
                goes_down = hn::VecFromMask(d, hn::Eq(hn::Load(d, &pair.ways[first_row + y][v * n]), number(down)));
            hn::Store(hn::Sub(hn::Xor(far, goes_down), goes_down), d, &row[v * n]);
        }
        if (channels == 3 && y == last) {
            // The last pixel is beyond the vectors of three channels where those are short.
            constexpr std::size_t byte = slanted(2, last) + last;
            const int magnitude = pair.by_turns[first_row + y][byte], far = magnitude ? magnitude + threshold : 0;
            if (far > max_steps) return false;
            const auto way = has_ways ? pair.ways[first_row + y][byte] : of.way();
            row[byte] = static_cast<std::uint8_t>(way == down ? -far : far);
        }
    }
    for (std::size_t y = 0; y < static_cast<std::size_t>(part.height); ++y) {
        auto* const to = tile.row(0, part.top + static_cast<int>(y)) + std::int64_t{part.left} * channels;
        const auto bytes_of = [&](std::size_t i)
                                  HWY_ATTR { return hn::LoadU(eight, &pair.made[first_row + y][slanted(i, y)]); };
        static_assert(channel_order[0] == 1 && channel_order[1] == 0);
        if constexpr (channels == 3)
            hn::StoreInterleaved3(bytes_of(1), bytes_of(0), bytes_of(2), eight, to);
        else
            hn::StoreU(bytes_of(0), eight, to);
    }
    return hn::AllTrue(d, hn::Eq(hn::Max(furthest, most), most));
}

/// Leaves a part's last row to the part below, and its last column to the one to its right.
template <int channels>
void leave_surroundings(const Made& of, std::size_t at, bool has_ways, const RunPartMaker::Pair& pair,
                        RunPartMaker& maker) {
    constexpr std::size_t last = part_side - 1;
    const auto row = part_side * at + last;
    auto& left = maker.left[of.row];
    for (std::size_t i = 0; i < channels; ++i) {
        const auto lower = load_eight(&pair.by_turns[row][slanted(i, last)]);
        const auto right = load_eight(&pair.left[lanes_of(i, at)]);
        const auto first = of.column * part_side;
        store_eight(lower, &maker.above[i][first]);
        store_eight(right, left.magnitudes[i].data());
        store_eight(has_ways ? load_eight(&pair.ways[row][slanted(i, last)]) : ones_where_any(lower) * of.way(),
                    &maker.ways_above[i][first]);
        store_eight(has_ways ? load_eight(&pair.ways_left[lanes_of(i, at)]) : ones_where_any(right) * of.way(),
                    left.ways[i].data());
    }
}

/// Makes some parts of which none hangs on another.
template <int channels, Likeness like>
bool make_parts(std::span<const Made> of, const std::uint8_t* folded, int threshold, HostView<std::uint8_t> tile,
                RunPartMaker& maker) {
    constexpr bool has_ways = like == Likeness::none;
    const auto pair_of = [&](std::size_t number) -> RunPartMaker::Pair& {
        return maker.pairs[number / RunPartMaker::of_pair];
    };
    for (std::size_t i = 0; i < of.size(); ++i) {
        take_surroundings<channels, has_ways>(of[i], maker, i % RunPartMaker::of_pair, pair_of(i));
        lay_out<channels, has_ways>(*of[i].part, folded + of[i].part->first, i % RunPartMaker::of_pair, pair_of(i));
    }
    if (of.size() % RunPartMaker::of_pair != 0) lay_out_nothing<channels>(pair_of(of.size()));
    if (of.size() > RunPartMaker::of_pair)
        make_magnitudes<channels, like, 2>(maker.pairs.data());
    else
        make_magnitudes<channels, like, 1>(maker.pairs.data());
    bool whole = true;
    for (std::size_t i = 0; i < of.size(); ++i) {
        whole &= give_rows<channels>(of[i], i % RunPartMaker::of_pair, has_ways, threshold, tile, pair_of(i));
        leave_surroundings<channels>(of[i], i % RunPartMaker::of_pair, has_ways, pair_of(i), maker);
    }
    return whole;
}

Likeness like_of(std::uint8_t does) {
    if ((does & some_go_up) && (does & some_go_down)) return Likeness::none;
    return does & some_stay ? Likeness::same_way : Likeness::all;
}

/// Makes the parts of a block, in an order in which several of them do not hang on each other: a part hangs on those to
/// its left and above, so each row of parts may go as far as the one above it has come.
template <int channels>
class BlockMaker {
public:
    BlockMaker(const BlockPlace& block, std::span<const RunPart> parts, PartSet changed, const std::uint8_t* folded,
               int threshold, HostView<std::uint8_t> tile, RunPartMaker& maker)
        : columns_(static_cast<std::size_t>(block.part_columns())),
          rows_(static_cast<std::size_t>(block.part_rows())),
          parts_(parts),
          changed_(changed),
          folded_(folded),
          threshold_(threshold),
          tile_(tile),
          maker_(maker) {
        begin_block(maker);
    }

    /// False where a difference is too large.
    bool make() {
        for (std::size_t first = 0; first < rows_;) {
            std::array<Made, RunPartMaker::at_once> some;
            std::size_t count = 0;
            for (auto row = first; row < rows_ && count < some.size(); ++row)
                if (pass_those_that_stay(row)) some[count++] = next(row);
            const auto made = std::span<const Made>(some).first(count);
            if (count > 0 && !make_some(made)) return false;
            for (const auto& of : made) ++come_[of.row];
            while (first < rows_ && come_[first] == columns_) ++first;
        }
        return true;
    }

private:
    PartSet bit(std::size_t row) const { return part_bit(static_cast<int>(come_[row]), static_cast<int>(row)); }
    /// Whether there is one in this row of parts that changes, and all that it hangs on is there.
    bool pass_those_that_stay(std::size_t row) {
        const auto end = row == 0 ? columns_ : come_[row - 1];
        for (; come_[row] < end; ++come_[row]) {
            if (changed_ & bit(row)) return true;
            pass(come_[row], row, maker_);
        }
        return false;
    }
    Made next(std::size_t row) {
        const auto& part = parts_[static_cast<std::size_t>(std::popcount(changed_ & (bit(row) - 1)))];
        return {&part, come_[row], row, look_around(part, come_[row], row, maker_)};
    }
    bool make_some(std::span<const Made> of) {
        auto like = Likeness::all;
        for (const auto& one : of) like = std::max(like, like_of(one.does));
        switch (like) {
            case Likeness::all: return make_alike<Likeness::all>(of);
            case Likeness::same_way: return make_alike<Likeness::same_way>(of);
            default: return make_alike<Likeness::none>(of);
        }
    }
    template <Likeness like>
    bool make_alike(std::span<const Made> of) {
        return make_parts<channels, like>(of, folded_, threshold_, tile_, maker_);
    }

    const std::size_t columns_, rows_;
    const std::span<const RunPart> parts_;
    const PartSet changed_;
    const std::uint8_t* const folded_;
    const int threshold_;
    const HostView<std::uint8_t> tile_;
    RunPartMaker& maker_;
    std::array<std::size_t, parts_per_row> come_{};  // of each row, how many are done
};

}  // namespace
}  // namespace run_parts

bool make_run_block(const BlockPlace& block, std::span<const RunPart> parts, PartSet changed,
                    const std::uint8_t* folded, int threshold, HostView<std::uint8_t> tile, RunPartMaker& maker) {
    return tile.shape().channels == 1
               ? run_parts::BlockMaker<1>(block, parts, changed, folded, threshold, tile, maker).make()
               : run_parts::BlockMaker<3>(block, parts, changed, folded, threshold, tile, maker).make();
}

}  // namespace framewire::delta::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire::delta {

HWY_EXPORT(make_run_block);

bool RunPartMaker::make(const BlockPlace& block, std::span<const RunPart> parts, PartSet changed,
                        const std::uint8_t* folded, int threshold, HostView<std::uint8_t> tile) {
    return HWY_DYNAMIC_DISPATCH(make_run_block)(block, parts, changed, folded, threshold, tile, *this);
}

}  // namespace framewire::delta

#endif
