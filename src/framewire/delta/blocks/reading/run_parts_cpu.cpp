#include "framewire/core/simd/simd.hpp"
#include "framewire/delta/blocks/reading/run_parts.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/delta/blocks/reading/run_parts_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

// A magnitude hangs on those to its left and above, and on the channel before. So a part is made in slanted columns: a
// lane for each row of each channel. A row is one pixel behind the one above it, a channel one behind the one before.
// Then all that a lane asks for was made one or two turns ago, most of it by the lane beside it.

HWY_BEFORE_NAMESPACE();
namespace framewire::delta::HWY_NAMESPACE {
namespace run_parts {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<std::int16_t, 4 * part_side>;
using V = hn::VFromD<D>;
using Row = hn::FixedTag<std::int16_t, part_side>;
using RowVector = hn::VFromD<Row>;
using RowBytes = hn::Rebind<std::uint8_t, Row>;

constexpr int vector_lanes = hn::MaxLanes(D()), channels_each = vector_lanes / part_side;
constexpr int row_turns = 2 * part_side - 1;  // in which a channel's lanes pass all of their pixels

/// How many turns it takes for all lanes of so many channels to pass their pixels.
template <int channels>
constexpr int turns_of = row_turns + channels - 1;
template <int channels>
constexpr int vectors_of = (channels + channels_each - 1) / channels_each;
static_assert(turns_of<3> <= RunPartMaker::turns && vectors_of<3> * vector_lanes <= RunPartMaker::lanes);

HWY_INLINE void transpose(RowVector (&rows)[part_side]) {
    // Three times the rows of the upper half beside those of the lower one.
    const Row d;
    for (int stage = 0; stage < 3; ++stage) {
        const auto a = hn::InterleaveLower(d, rows[0], rows[4]), b = hn::InterleaveUpper(d, rows[0], rows[4]);
        const auto e = hn::InterleaveLower(d, rows[1], rows[5]), f = hn::InterleaveUpper(d, rows[1], rows[5]);
        const auto g = hn::InterleaveLower(d, rows[2], rows[6]), h = hn::InterleaveUpper(d, rows[2], rows[6]);
        const auto k = hn::InterleaveLower(d, rows[3], rows[7]), l = hn::InterleaveUpper(d, rows[3], rows[7]);
        rows[0] = a, rows[1] = b, rows[2] = e, rows[3] = f, rows[4] = g, rows[5] = h, rows[6] = k, rows[7] = l;
    }
}
/// Calls body(number) with each number of a row, as a constant.
template <class Body>
HWY_INLINE void for_each_row(Body&& body) {
    [&]<int... y>(std::integer_sequence<int, y...>) HWY_ATTR { (body(std::integral_constant<int, y>()), ...); }
    (std::make_integer_sequence<int, part_side>());
}

/// Eight rows, each moved right by its number, as columns: the first eight, and those behind them.
struct Columns {
    RowVector first[part_side], second[part_side];
};
HWY_INLINE Columns slanted_columns(const std::int16_t (&rows)[part_side][part_side]) {
    const Row d;
    Columns columns;
    for_each_row([&](auto y) HWY_ATTR {
        const auto row = hn::Load(d, rows[y]);
        columns.first[y] = hn::ShiftLeftLanes<y>(d, row);
        if constexpr (y == 0)
            columns.second[y] = hn::Zero(d);
        else
            columns.second[y] = hn::ShiftRightLanes<part_side - y>(d, row);
    });
    transpose(columns.first);
    transpose(columns.second);
    return columns;
}
/// Undoes it: calls body(y, row).
template <class Body>
HWY_INLINE void for_each_straight_row(Columns& columns, Body&& body) {
    const Row d;
    transpose(columns.first);
    transpose(columns.second);
    for_each_row([&](auto y) HWY_ATTR {
        if constexpr (y == 0)
            body(y, columns.first[y]);
        else
            body(y, hn::CombineShiftRightLanes<y>(d, columns.second[y], columns.first[y]));
    });
}

// What a pixel of a channel is before its magnitude is known: folded in the lower byte, and above it 1 or -1.
constexpr std::int16_t changes_up = 0x100, changes_down = -0x100;

/// Lays the pixels of a part out by turns.
template <int channels>
HWY_INLINE void lay_out(const RunPart& part, const std::array<const std::uint8_t*, 3>& folded, RunPartMaker& maker) {
    const Row d;
    auto next = folded;
    for (int y = 0; y < part_side; ++y) {
        const auto& row = part.rows[static_cast<std::size_t>(y)];
        if (y >= part.height || row.kind == RowKind::stays) {
            for (int i = 0; i < channels; ++i) hn::Store(hn::Zero(d), d, maker.rows[i][y]);
        } else if (row.kind == RowKind::mixed) {
            for (int x = 0; x < part_side; ++x) {
                const auto pattern = part.mixed[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)];
                for (std::size_t i = 0; i < channels; ++i) {
                    const auto channel = static_cast<std::size_t>(channels == 1 ? 0 : channel_order[i]);
                    const int sign = x < part.width ? pattern_signs[pattern][channel] : 0;
                    maker.rows[i][y][x] =
                        static_cast<std::int16_t>(sign == 0 ? 0 : *next[i]++ + (sign > 0 ? changes_up : changes_down));
                }
            }
        } else {
            const unsigned pixels = row.pixels(part.width);
            const int first = std::countr_zero(pixels), count = std::popcount(pixels);
            HWY_ALIGN static constexpr std::int16_t numbers[part_side] = {0, 1, 2, 3, 4, 5, 6, 7};
            const auto lane = hn::Load(d, numbers);
            const auto inside = hn::And(hn::Gt(lane, hn::Set(d, static_cast<std::int16_t>(first - 1))),
                                        hn::Lt(lane, hn::Set(d, static_cast<std::int16_t>(first + count))));
            const auto how = hn::Set(d, row.goes_down() ? changes_down : changes_up);
            for (std::size_t i = 0; i < channels; ++i) {
                const auto bytes = hn::PromoteTo(d, hn::LoadU(RowBytes(), next[i] - first));
                hn::Store(hn::IfThenElseZero(inside, hn::Or(bytes, how)), d, maker.rows[i][y]);
                next[i] += count;
            }
        }
    }
    for (int i = 0; i < channels; ++i) {
        // Before and behind its turns a channel has none.
        for (int turn = 0; turn < turns_of<channels>; ++turn)
            if (turn < i || turn >= i + row_turns) hn::Store(hn::Zero(d), d, &maker.by_turn[turn][i * part_side]);
        const auto columns = slanted_columns(maker.rows[i]);
        auto* const first = &maker.by_turn[i][i * part_side];
        for_each_row([&](auto x) HWY_ATTR {
            hn::Store(columns.first[x], d, first + x * RunPartMaker::lanes);
            if constexpr (x + part_side < row_turns)
                hn::Store(columns.second[x], d, first + (x + part_side) * RunPartMaker::lanes);
        });
    }
}

/// The lanes that have a pixel in a turn.
struct Active {
    alignas(64) std::int16_t lanes[RunPartMaker::turns][RunPartMaker::lanes];
};
constexpr Active active = [] {
    Active all{};
    for (int turn = 0; turn < RunPartMaker::turns; ++turn)
        for (int lane = 0; lane < RunPartMaker::lanes; ++lane) {
            const int x = turn - lane % part_side - lane / part_side;
            all.lanes[turn][lane] = x >= 0 && x < part_side ? -1 : 0;
        }
    return all;
}();

/// Steps without their signs, and those: 1, -1, or 0 where there are none.
struct Signed {
    V magnitude, sign;
};
HWY_INLINE Signed apart(V steps) {
    const D d;
    const auto zero = hn::Zero(d), one = hn::Set(d, 1);
    return {hn::Abs(steps), hn::Or(hn::BroadcastSignBit(steps), hn::IfThenElseZero(hn::Gt(steps, zero), one))};
}
HWY_INLINE Signed where(hn::Mask<D> mask, const Signed& yes, const Signed& no) {
    return {hn::IfThenElse(mask, yes.magnitude, no.magnitude), hn::IfThenElse(mask, yes.sign, no.sign)};
}

/// Of vectors of all channels, those of the channel before; nothing for the first one.
template <bool has_signs, std::size_t vectors>
HWY_INLINE void to_next_channel(const Signed (&of)[vectors], Signed (&to)[vectors]) {
    const D d;
    if constexpr (channels_each == 1) {
        to[0] = {hn::Zero(d), hn::Zero(d)};
        for (std::size_t i = 1; i < vectors; ++i) to[i] = of[i - 1];
    } else {
        // Each vector's eight lanes turned round by one place of eight; the last ones come first.
        const hn::Repartition<std::int32_t, D> words;
        HWY_ALIGN static constexpr auto order = [] {
            std::array<std::int32_t, vector_lanes / 2> from{};
            for (std::size_t i = 0; i < from.size(); ++i)
                from[i] = static_cast<std::int32_t>((i + from.size() - part_side / 2) % from.size());
            return from;
        }();
        const auto indices = hn::SetTableIndices(words, order.data());
        const auto first_channel = hn::FirstN(d, part_side);
        const auto turned = [&](V v) HWY_ATTR {
            return hn::BitCast(d, hn::TableLookupLanes(hn::BitCast(words, v), indices));
        };
        Signed last{hn::Zero(d), hn::Zero(d)};
        for (std::size_t i = 0; i < vectors; ++i) {
            const Signed now{turned(of[i].magnitude), has_signs ? turned(of[i].sign) : of[i].sign};
            to[i] = where(first_channel, last, now);
            last = now;
        }
    }
}

/// The pixels around a part: those above it in the lanes of its first row, by turns, and those to its left.
template <int channels>
HWY_INLINE void take_surroundings(const RunPart& part, RunPartMaker& maker) {
    for (int i = 0; i < channels; ++i) {
        const auto* const above = maker.last_rows[i] + part.left;
        for (int column = 0; column < part_side; ++column) maker.above[column + i][i * part_side] = above[column];
        // A corner is what was above in the turn before.
        (i > 0 ? maker.above[i - 1] : maker.corner)[i * part_side] = maker.corners[i];
    }
}
/// Leaves those above for the parts below; make_steps() has left those to the left.
template <int channels>
HWY_INLINE void leave_surroundings(const RunPart& part, RunPartMaker& maker) {
    for (int i = 0; i < channels; ++i) {
        auto* const last_row = maker.last_rows[i] + part.left;
        maker.corners[i] = last_row[part_side - 1];
        std::memcpy(last_row, maker.rows[i][part_side - 1], sizeof(maker.rows[i][part_side - 1]));
    }
}

/// What is known beforehand of the pixels of a part and around it.
enum class Likeness {
    none,
    same_way,  ///< those that change all go the same way, with all channels
    all        ///< the same, and all of them change
};

/// expected magnitudes of step_formulas.hpp. `same`: where the channel before goes the same way. The others: where that
/// is told by the pixel to the left, by that and the same pixel's channel before, and so on.
struct Told {
    hn::Mask<D> same, by_left, by_above, by_corner, by_left_before, by_above_before;
};
struct Magnitudes {
    V left, above, corner, before, left_before, above_before;
};
template <Likeness like>
HWY_INLINE V expect(const Told& told, const Magnitudes& of) {
    const D d;
    const auto one = hn::Set(d, 1);
    const auto more_left = hn::Sub(of.left, of.left_before), more_above = hn::Sub(of.above, of.above_before);
    const auto halved = [&](V more) HWY_ATTR { return hn::ShiftRight<1>(hn::Sub(more, hn::BroadcastSignBit(more))); };
    V more, a = of.left, b = of.above, straight;
    if constexpr (like == Likeness::all) {
        more = halved(hn::Add(more_left, more_above));
        straight = hn::Sub(hn::Add(a, b), of.corner);
    } else {
        const auto use_left = hn::And(told.by_left, told.by_left_before);
        const auto use_above = hn::And(told.by_above, told.by_above_before);
        const auto all = hn::Add(hn::IfThenElseZero(use_left, more_left), hn::IfThenElseZero(use_above, more_above));
        more = hn::IfThenElse(hn::And(use_left, use_above), halved(all), all);
        // Where only one tells it does so for both.
        a = hn::IfThenElse(told.by_left, a, hn::IfThenElse(told.by_above, b, one));
        b = hn::IfThenElse(told.by_above, b, a);
        const auto sum = hn::Add(a, b);
        straight = hn::IfThenElse(told.by_corner, hn::Sub(sum, of.corner), hn::ShiftRight<1>(sum));
    }
    const auto low = hn::IfThenElse(told.same, one, hn::Min(a, b));
    const auto high = hn::IfThenElse(told.same, hn::Set(d, max_steps), hn::Max(a, b));
    return hn::Min(hn::Max(hn::IfThenElse(told.same, hn::Add(of.before, more), straight), low), high);
}
/// unfold_within(): what is beyond the nearer end counts from the other one.
HWY_INLINE V unfold_all(V folded, V expected) {
    const D d;
    const auto one = hn::Set(d, 1), reach = hn::ShiftRight<1>(hn::Add(folded, one));
    const auto even = hn::Sub(hn::And(folded, one), one);
    const auto near = hn::Add(expected, hn::Sub(hn::Xor(reach, even), even));
    const auto is_above_low = hn::Gt(expected, reach);
    const auto is_below_high = hn::Gt(hn::Sub(hn::Set(d, max_steps + 1), reach), expected);
    return hn::IfThenElse(is_above_low, hn::IfThenElse(is_below_high, near, hn::Sub(hn::Set(d, max_steps), folded)),
                          hn::Add(folded, one));
}

/// Makes steps of what lay_out() left. Which neighbours go the same way is known beforehand, so that is found from
/// signs, and magnitudes wait for magnitudes only. Where all go the same way there are no signs.
template <int channels, Likeness like>
HWY_INLINE void make_steps(RunPartMaker& maker, bool all_go_down) {
    constexpr int vectors = vectors_of<channels>;
    constexpr bool has_signs = like == Likeness::none;
    const D d;
    const auto zero = hn::Zero(d), all_signs = hn::Set(d, all_go_down ? std::int16_t{-1} : std::int16_t{0});
    Signed left[vectors], corner[vectors], before[vectors], before_left[vectors], before_above[vectors];
    for (int i = 0; i < vectors; ++i) {
        left[i] = apart(hn::Load(d, maker.left + i * vector_lanes));
        corner[i] = apart(hn::Load(d, maker.corner + i * vector_lanes));
        before[i] = before_left[i] = before_above[i] = {zero, zero};
    }
    for (int turn = 0; turn < turns_of<channels>; ++turn) {
        Signed told[vectors], told_left[vectors], told_above[vectors];
        if constexpr (has_signs) {
            to_next_channel<has_signs>(before, told);
            to_next_channel<has_signs>(before_left, told_left);
            to_next_channel<has_signs>(before_above, told_above);
        } else {
            // All channels change: the one before was here a turn ago, and that turn's is to the left of it now.
            to_next_channel<has_signs>(left, told);
            to_next_channel<has_signs>(corner, told_above);
            for (int i = 0; i < vectors; ++i) told_left[i] = std::exchange(before[i], told[i]);
        }
        for (int i = 0; i < vectors; ++i) {
            const auto pixels = hn::Load(d, maker.by_turn[turn] + i * vector_lanes);
            const auto from_above = apart(hn::Load(d, maker.above[turn] + i * vector_lanes));
            const auto below = [&](V of, V first) HWY_ATTR { return hn::Or(hn::ShiftLeftLanes<1>(d, of), first); };
            Signed above{below(left[i].magnitude, from_above.magnitude), zero};
            Signed here{zero, zero};
            hn::Mask<D> changes;
            Told of;
            if constexpr (has_signs) {
                above.sign = below(left[i].sign, from_above.sign);
                here.sign = hn::ShiftRight<8>(pixels);
                changes = hn::Ne(here.sign, zero);
                const auto like_this = [&](const Signed& other) HWY_ATTR { return hn::Eq(other.sign, here.sign); };
                of = {like_this(told[i]),   like_this(left[i]),      like_this(above),
                      like_this(corner[i]), like_this(told_left[i]), like_this(told_above[i])};
            } else {
                const auto is_there = [&](V magnitude) HWY_ATTR { return hn::Gt(magnitude, zero); };
                changes = is_there(hn::And(pixels, hn::Set(d, changes_up)));
                of = {is_there(told[i].magnitude),      is_there(left[i].magnitude),
                      is_there(above.magnitude),        is_there(corner[i].magnitude),
                      is_there(told_left[i].magnitude), is_there(told_above[i].magnitude)};
            }
            const auto expected =
                expect<like>(of, {left[i].magnitude, above.magnitude, corner[i].magnitude, told[i].magnitude,
                                  told_left[i].magnitude, told_above[i].magnitude});
            here.magnitude = unfold_all(hn::And(pixels, hn::Set(d, 0xff)), expected);
            if constexpr (like != Likeness::all) here.magnitude = hn::IfThenElseZero(changes, here.magnitude);
            if constexpr (has_signs) {
                before[i] = where(changes, here, told[i]);
                before_left[i] = where(changes, left[i], told_left[i]);
                before_above[i] = where(changes, above, told_above[i]);
            }
            // Before its first pixel a lane has the one to the left of the part, behind its last one that.
            const auto is_active = hn::MaskFromVec(hn::Load(d, active.lanes[turn] + i * vector_lanes));
            left[i].magnitude = hn::IfThenElse(is_active, here.magnitude, left[i].magnitude);
            if constexpr (has_signs) left[i].sign = hn::IfThenElse(is_active, here.sign, left[i].sign);
            corner[i] = above;
            const auto down = has_signs ? hn::BroadcastSignBit(left[i].sign) : all_signs;
            const auto steps = hn::Sub(hn::Xor(left[i].magnitude, down), down);
            hn::Store(steps, d, maker.by_turn[turn] + i * vector_lanes);
            if (turn + 1 == turns_of<channels>) hn::Store(steps, d, maker.left + i * vector_lanes);
        }
    }
}

/// Whether the pixels above a part and to its left that change go down, or all up, and whether they all change.
struct Around {
    bool any_up, any_down, any_stays;
};
template <int channels>
HWY_INLINE Around look_around(const RunPart& part, const RunPartMaker& maker) {
    const Row d;
    const auto zero = hn::Zero(d);
    auto least = zero, most = zero;
    auto stays = zero;
    const auto look = [&](RowVector steps) HWY_ATTR {
        least = hn::Min(least, steps);
        most = hn::Max(most, steps);
        stays = hn::Or(stays, hn::VecFromMask(d, hn::Eq(steps, zero)));
    };
    for (int i = 0; i < channels; ++i) {
        look(hn::Load(d, maker.left + i * part_side));
        look(hn::Load(d, maker.last_rows[i] + part.left));
        look(hn::Set(d, maker.corners[i]));
    }
    return {!hn::AllFalse(d, hn::Gt(most, zero)), !hn::AllFalse(d, hn::Lt(least, zero)),
            !hn::AllFalse(d, hn::Lt(stays, zero))};
}

template <int channels>
HWY_INLINE void make_steps(const RunPart& part, RunPartMaker& maker) {
    auto [any_up, any_down, any_stays] = look_around<channels>(part, maker);
    bool any_mixed = false;
    any_stays |= part.width < part_side || part.height < part_side;
    for (int y = 0; y < part.height; ++y) {
        const auto& row = part.rows[static_cast<std::size_t>(y)];
        any_mixed |= row.kind == RowKind::mixed;
        any_stays |= row.kind != RowKind::up && row.kind != RowKind::down;
        any_up |= row.kind != RowKind::stays && !row.goes_down();
        any_down |= row.goes_down();
    }
    if (any_mixed || (any_up && any_down))
        make_steps<channels, Likeness::none>(maker, false);
    else if (any_stays)
        make_steps<channels, Likeness::same_way>(maker, any_down);
    else
        make_steps<channels, Likeness::all>(maker, any_down);
}

/// Writes what the steps that make_steps() left make of bytes. False where one is too far.
template <int channels>
HWY_INLINE bool give_rows(const RunPart& part, const BlockPlace& block, int threshold,
                          HostView<std::uint8_t> differences, RunPartMaker& maker) {
    const Row d;
    for (int i = 0; i < channels; ++i) {
        Columns columns;
        const auto* const first = &maker.by_turn[i][i * part_side];
        for_each_row([&](auto x) HWY_ATTR {
            columns.first[x] = hn::Load(d, first + x * RunPartMaker::lanes);
            // Behind the last turn nothing counts.
            columns.second[x] = hn::Load(d, first + std::min(x + part_side, row_turns - 1) * RunPartMaker::lanes);
        });
        for_each_straight_row(columns, [&](auto y, RowVector row) HWY_ATTR { hn::Store(row, d, maker.rows[i][y]); });
    }
    const auto zero = hn::Zero(d), limit = hn::Set(d, static_cast<std::int16_t>(threshold));
    auto furthest = zero;
    const auto bytes_of = [&](int i, int y) HWY_ATTR {
        const auto steps = hn::Load(d, maker.rows[i][y]);
        const auto down = hn::BroadcastSignBit(steps);
        const auto far = hn::IfThenZeroElse(hn::Eq(steps, zero), hn::Add(hn::Abs(steps), limit));
        furthest = hn::Max(furthest, far);
        return hn::DemoteTo(RowBytes(), hn::And(hn::Sub(hn::Xor(far, down), down), hn::Set(d, 0xff)));
    };
    for (int y = 0; y < part.height; ++y) {
        auto* const to = differences.row(0, block.y + part.top + y) + std::int64_t{block.x + part.left} * channels;
        std::uint8_t copied[part_side * channels];
        auto* const all = part.width == part_side ? to : copied;
        static_assert(channel_order[0] == 1 && channel_order[1] == 0);
        if constexpr (channels == 3)
            hn::StoreInterleaved3(bytes_of(1, y), bytes_of(0, y), bytes_of(2, y), RowBytes(), all);
        else
            hn::StoreU(bytes_of(0, y), RowBytes(), all);
        if (all == copied) std::memcpy(to, copied, static_cast<std::size_t>(part.width * channels));
    }
    return hn::AllFalse(d, hn::Gt(furthest, hn::Set(d, 255)));
}

template <int channels>
bool make_part(const RunPart& part, const std::array<const std::uint8_t*, 3>& folded, const BlockPlace& block,
               int threshold, HostView<std::uint8_t> differences, RunPartMaker& maker) {
    // Early: rows of differences are far apart, and each waits for its line of the cache.
    for (int y = 0; y < part.height; ++y)
        __builtin_prefetch(differences.row(0, block.y + part.top + y) + std::int64_t{block.x + part.left} * channels,
                           1);
    take_surroundings<channels>(part, maker);
    lay_out<channels>(part, folded, maker);
    make_steps<channels>(part, maker);
    const bool whole = give_rows<channels>(part, block, threshold, differences, maker);
    leave_surroundings<channels>(part, maker);
    return whole;
}

}  // namespace
}  // namespace run_parts

bool make_one(const RunPart& part, const std::array<const std::uint8_t*, 3>& folded, const BlockPlace& block,
              int threshold, HostView<std::uint8_t> differences, RunPartMaker& maker) {
    return differences.shape().channels == 1
               ? run_parts::make_part<1>(part, folded, block, threshold, differences, maker)
               : run_parts::make_part<3>(part, folded, block, threshold, differences, maker);
}

}  // namespace framewire::delta::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire::delta {

HWY_EXPORT(make_one);

void RunPartMaker::begin_block() { std::memset(last_rows, 0, sizeof(last_rows)); }

void RunPartMaker::begin_row() {
    std::memset(left, 0, sizeof(left));
    std::memset(corners, 0, sizeof(corners));
}

void RunPartMaker::pass(int column) {
    std::memset(left, 0, sizeof(left));
    for (int i = 0; i < 3; ++i) {
        auto* const last_row = last_rows[i] + column * part_side;
        corners[i] = last_row[part_side - 1];
        std::memset(last_row, 0, part_side * sizeof(*last_row));
    }
}

bool RunPartMaker::make(const RunPart& part, const std::array<const std::uint8_t*, 3>& folded, const BlockPlace& block,
                        int threshold, HostView<std::uint8_t> differences) {
    return HWY_DYNAMIC_DISPATCH(make_one)(part, folded, block, threshold, differences, *this);
}

}  // namespace framewire::delta

#endif
