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

/// Where a row of a channel begins in RunPartMaker::Rows.
constexpr std::size_t slanted(std::size_t channel, std::size_t y) { return 16 * channel + y + channel; }

/// A part to be made, and what is known of it.
struct Made {
    const RunPart* part;
    int column, row;
    std::uint8_t does;  ///< with the pixels around it
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

/// Lays out what is read of a part. `has_ways`: those count.
template <int channels, bool has_ways>
void lay_out(const RunPart& part, const std::uint8_t* folded, RunPartMaker::Part& to) {
    std::array<const std::uint8_t*, channels> next;
    for (std::size_t i = 0; i < channels; ++i) {
        next[i] = folded;
        folded += part.counts[i];
    }
    const auto store = [&](std::size_t i, std::size_t y, std::uint64_t pixels, std::uint64_t ways) {
        store_eight(pixels, &to.folded[y][slanted(i, y)]);
        if (has_ways) store_eight(ways, &to.ways[y][slanted(i, y)]);
    };
    for (std::size_t y = 0; y < part_side; ++y) {
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
        // Bytes are less than 255, so that none carries over to the next one.
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
        constexpr std::size_t lane = channels * part_side - 1, row = part_side - 1, byte = slanted(2, row) + row;
        to.last_turn[lane] = std::exchange(to.folded[row][byte], std::uint8_t{0});
        if (has_ways) to.last_way[lane] = to.ways[row][byte];
    }
}

/// Lays out the pixels above a part and the one to their left, and leaves the corner of the next part.
template <int channels, bool has_ways>
void take_above(std::size_t column, std::size_t row, RunPartMaker& maker, RunPartMaker::Part& to) {
    auto& left = maker.left[row];
    const auto take = [&](std::size_t i, const RunPartMaker::Pixels& from, std::uint8_t corner, auto& above) {
        constexpr std::size_t last = 15;
        const auto* const pixels = &from[i][column * part_side];
        store_eight(__builtin_bswap64(load_eight(pixels)), &above[16 * i + last - i - part_side]);
        above[16 * i + last - i] = corner;
    };
    for (std::size_t i = 0; i < channels; ++i) {
        take(i, maker.above, left.corner[i], to.above);
        if (has_ways) take(i, maker.ways_above, left.corner_way[i], to.ways_above);
        left.corner[i] = maker.above[i][column * part_side + part_side - 1];
        left.corner_way[i] = maker.ways_above[i][column * part_side + part_side - 1];
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

/// Turns rows into pairs of turns, or back.
template <int channels>
HWY_INLINE void transpose_rows(const RunPartMaker::Rows& from, RunPartMaker::Rows& to) {
    const Lanes<channels> d;
    const LaneBytes<channels> d8;
    for (std::size_t at = 0; at < std::size_t{vectors_of<channels>} * hn::MaxLanes(d8); at += hn::MaxLanes(d8)) {
        LaneVector<channels> rows[part_side];
        for (std::size_t y = 0; y < part_side; ++y) rows[y] = hn::BitCast(d, hn::Load(d8, &from[y][at]));
        transpose(d, rows);
        for (std::size_t y = 0; y < part_side; ++y) hn::Store(hn::BitCast(d8, rows[y]), d8, &to[y][at]);
    }
}

/// Makes the magnitudes of parts, which are laid out in maker.being_made.
template <int channels, Likeness like, std::size_t count>
HWY_INLINE void make_magnitudes(const Made* of, RunPartMaker& maker) {
    constexpr bool has_ways = like == Likeness::none;
    constexpr int vectors = vectors_of<channels>;
    const Lanes<channels> d;
    const LaneBytes<channels> d8;
    const hn::RebindToUnsigned<Lanes<channels>> d16;
    using Turn = typename Chain<channels, like>::Turn;
    const auto part = [&](std::size_t i) __attribute__((always_inline))->RunPartMaker::Part& {
        return maker.being_made[i];
    };
    const auto left = [&](std::size_t i) __attribute__((always_inline))->RunPartMaker::Left& {
        return maker.left[static_cast<std::size_t>(of[i].row)];
    };
    const auto lower = [&](LaneVector<channels> pair) HWY_ATTR __attribute__((always_inline)) {
        return hn::And(pair, hn::Set(d, 0xff));
    };
    const auto upper = [&](LaneVector<channels> pair) HWY_ATTR __attribute__((always_inline)) {
        return hn::BitCast(d, hn::ShiftRight<8>(hn::BitCast(d16, pair)));
    };
    [&]<std::size_t... i>(std::index_sequence<i...>) HWY_ATTR __attribute__((always_inline)) {
        Chain<channels, like> chains[] = {Chain<channels, like>(part(i), left(i))...};
        for (std::size_t pair = 0; pair < part_side; ++pair) {
            Turn folded[count], ways[count], made[count], first[count];
            const auto load = [&](const RunPartMaker::Rows& from, Turn& to) HWY_ATTR __attribute__((always_inline)) {
                for (int v = 0; v < vectors; ++v)
                    to[v] = hn::BitCast(d, hn::Load(d8, &from[pair][static_cast<std::size_t>(v) * hn::MaxLanes(d8)]));
            };
            const auto pass = [&](std::size_t one, int turn, auto half, Turn& to) HWY_ATTR
                __attribute__((always_inline)) {
                Turn half_folded, half_ways;
                for (int v = 0; v < vectors; ++v) {
                    half_folded[v] = half(folded[one][v]);
                    half_ways[v] = has_ways ? half(ways[one][v]) : half_folded[v];
                }
                chains[one].pass(turn, half_folded, half_ways, to);
            };
            (load(part(i).by_turns, folded[i]), ...);
            if constexpr (has_ways) (load(part(i).ways_by_turns, ways[i]), ...);
            (pass(i, 2 * static_cast<int>(pair), lower, first[i]), ...);
            (pass(i, 2 * static_cast<int>(pair) + 1, upper, made[i]), ...);
            const auto store = [&](std::size_t one) HWY_ATTR __attribute__((always_inline)) {
                for (int v = 0; v < vectors; ++v)
                    hn::Store(hn::BitCast(d8, hn::Or(first[one][v], hn::ShiftLeft<8>(made[one][v]))), d8,
                              &part(one).by_turns[pair][static_cast<std::size_t>(v) * hn::MaxLanes(d8)]);
            };
            (store(i), ...);
        }
        if constexpr (turns_of < channels >> paired_turns) {
            const auto pass = [&](std::size_t one) HWY_ATTR __attribute__((always_inline)) {
                Turn folded, ways, made;
                for (int v = 0; v < vectors; ++v) {
                    const auto at = static_cast<std::size_t>(v * vector_lanes<channels>);
                    folded[v] = hn::Load(d, &part(one).last_turn[at]);
                    ways[v] = hn::Load(d, &part(one).last_way[at]);
                }
                chains[one].pass(paired_turns, folded, ways, made);
            };
            (pass(i), ...);
        }
        (chains[i].leave(of[i].does & some_go_down ? down : up, left(i)), ...);
    }
    (std::make_index_sequence<count>());
}

/// Writes what the magnitudes of a part make of bytes. False where one is too far.
template <int channels>
HWY_INLINE bool give_rows(const Made& of, bool has_ways, int threshold, HostView<std::uint8_t> tile,
                          RunPartMaker& maker, RunPartMaker::Part& from) {
    const LaneBytes<channels> d8;
    constexpr std::size_t vectors = vectors_of<channels>, vector_bytes = hn::MaxLanes(d8);
    const hn::FixedTag<std::uint8_t, part_side> eight;
    const auto& part = *of.part;
    const auto zero = hn::Zero(d8), limit = hn::Set(d8, static_cast<std::uint8_t>(threshold));
    const auto all_down = hn::Set(d8, of.does & some_go_down ? std::uint8_t{0xff} : std::uint8_t{0});
    auto furthest = zero;
    transpose_rows<channels>(from.by_turns, from.by_turns);
    constexpr std::size_t last_lane = channels * part_side - 1, beyond = 16 * channels;
    const auto last_pixel =
        static_cast<std::uint8_t>(maker.left[static_cast<std::size_t>(of.row)].magnitudes[last_lane]);
    if constexpr (channels == 3) from.by_turns[part_side - 1][beyond] = last_pixel;
    // First all of them: what is stored as vectors is not there at once as eight bytes.
    for (std::size_t y = 0; y < part_side; ++y)
        for (std::size_t v = 0; v < vectors; ++v) {
            const auto magnitude = hn::Load(d8, &from.by_turns[y][v * vector_bytes]);
            furthest = hn::Max(furthest, magnitude);
            const auto far = hn::IfThenZeroElse(hn::Eq(magnitude, zero), hn::Add(magnitude, limit));
            auto goes_down = all_down;
            if (has_ways)
                goes_down = hn::VecFromMask(
                    d8, hn::Eq(hn::Load(d8, &from.ways[y][v * vector_bytes]), hn::Set(d8, std::uint8_t{down})));
            hn::Store(hn::Sub(hn::Xor(far, goes_down), goes_down), d8, &from.made[y][v * vector_bytes]);
        }
    if constexpr (channels == 3) {
        const int far = last_pixel ? last_pixel + threshold : 0;
        const bool goes_down = has_ways ? from.last_way[last_lane] == down : (of.does & some_go_down) != 0;
        from.made[part_side - 1][beyond] = static_cast<std::uint8_t>(goes_down ? -far : far);
    }
    for (std::size_t y = 0; y < static_cast<std::size_t>(part.height); ++y) {
        auto* const to = tile.row(0, part.top + static_cast<int>(y)) + std::int64_t{part.left} * channels;
        const auto bytes_of = [&](std::size_t i) HWY_ATTR { return hn::LoadU(eight, &from.made[y][slanted(i, y)]); };
        static_assert(channel_order[0] == 1 && channel_order[1] == 0);
        if constexpr (channels == 3)
            hn::StoreInterleaved3(bytes_of(1), bytes_of(0), bytes_of(2), eight, to);
        else
            hn::StoreU(bytes_of(0), eight, to);
    }
    return last_pixel + threshold <= 255 &&
           hn::AllTrue(d8, hn::Eq(hn::Max(furthest, hn::Set(d8, static_cast<std::uint8_t>(255 - threshold))),
                                  hn::Set(d8, static_cast<std::uint8_t>(255 - threshold))));
}

/// Leaves a part's last row to the part below.
template <int channels>
HWY_INLINE void leave_above(const Made& of, bool has_ways, const RunPartMaker::Part& from, RunPartMaker& maker) {
    constexpr std::size_t y = part_side - 1;
    const std::uint64_t way = of.does & some_go_down ? down : up;
    for (std::size_t i = 0; i < channels; ++i) {
        const auto row = load_eight(&from.by_turns[y][slanted(i, y)]);
        const auto at = static_cast<std::size_t>(of.column) * part_side;
        store_eight(row, &maker.above[i][at]);
        store_eight(has_ways ? load_eight(&from.ways[y][slanted(i, y)]) : ones_where_any(row) * way,
                    &maker.ways_above[i][at]);
    }
}

/// Makes parts of which none hangs on another.
template <int channels, Likeness like, std::size_t count>
bool make_parts(const Made* of, const std::uint8_t* folded, int threshold, HostView<std::uint8_t> tile,
                RunPartMaker& maker) {
    constexpr bool has_ways = like == Likeness::none;
    for (std::size_t i = 0; i < count; ++i) {
        auto& part = maker.being_made[i];
        take_above<channels, has_ways>(static_cast<std::size_t>(of[i].column), static_cast<std::size_t>(of[i].row),
                                       maker, part);
        lay_out<channels, has_ways>(*of[i].part, folded + of[i].part->first, part);
        transpose_rows<channels>(part.folded, part.by_turns);
        if (has_ways) transpose_rows<channels>(part.ways, part.ways_by_turns);
    }
    make_magnitudes<channels, like, count>(of, maker);
    bool whole = true;
    for (std::size_t i = 0; i < count; ++i) {
        auto& part = maker.being_made[i];
        whole &= give_rows<channels>(of[i], has_ways, threshold, tile, maker, part);
        leave_above<channels>(of[i], has_ways, part, maker);
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
            std::array<Made, at_once> some;
            std::size_t count = 0;
            for (auto row = first; row < rows_ && count < at_once; ++row) {
                if (!pass_those_that_stay(row)) continue;
                const auto made = next(row);
                if (like_of(made.does) == Likeness::none) {
                    if (!make_some<Likeness::none, 1>(&made)) return false;
                    ++come_[row];
                } else {
                    some[count++] = made;
                }
            }
            if (count > 0 && !make_alike(some.data(), count)) return false;
            for (std::size_t i = 0; i < count; ++i) ++come_[static_cast<std::size_t>(some[i].row)];
            while (first < rows_ && come_[first] == columns_) ++first;
        }
        return true;
    }

private:
    // With more vectors of a part than one there is enough to do beside each other.
    static constexpr std::size_t at_once = vectors_of<channels> == 1 ? RunPartMaker::at_once : 1;

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
        return {&part, static_cast<int>(come_[row]), static_cast<int>(row), look_around(part, come_[row], row, maker_)};
    }

    template <Likeness like, std::size_t count>
    bool make_some(const Made* of) {
        return make_parts<channels, like, count>(of, folded_, threshold_, tile_, maker_);
    }
    bool make_alike(const Made* of, std::size_t count) {
        bool all_change = true;
        for (std::size_t i = 0; i < count; ++i) all_change &= like_of(of[i].does) == Likeness::all;
        if (at_once > 1 && count == at_once)
            return all_change ? make_some<Likeness::all, at_once>(of) : make_some<Likeness::same_way, at_once>(of);
        return all_change ? make_some<Likeness::all, 1>(of) : make_some<Likeness::same_way, 1>(of);
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
