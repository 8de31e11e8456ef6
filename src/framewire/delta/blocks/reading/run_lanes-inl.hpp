// Magnitudes of sub-blocks in runs, reconstructed in SIMD lanes. Include it inside a Highway target namespace, after
// <hwy/highway.h>.
//
// A magnitude depends on those to its left and above and on the previous channel. Each row of each channel is a lane,
// and the lanes are skewed: a row is one pixel behind the row above it, and a channel one pixel behind the previous
// one. Then everything that a lane needs was computed one or two turns ago, most of it in the neighbouring lane:
//
//     turn         0  1  2  3  4 ...
//     row 0        x0 x1 x2 x3 x4
//     row 1           x0 x1 x2 x3     pixel x in row y of channel c (in coding order) is done in turn x + y + c
//     row 2              x0 x1 x2

#if defined(FRAMEWIRE_DELTA_RUN_LANES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef FRAMEWIRE_DELTA_RUN_LANES_INL_HPP
#undef FRAMEWIRE_DELTA_RUN_LANES_INL_HPP
#else
#define FRAMEWIRE_DELTA_RUN_LANES_INL_HPP
#endif

#include "framewire/delta/blocks/reading/run_parts.hpp"
#include "framewire/delta/blocks/step_formulas.hpp"

#include <hwy/highway.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace framewire::delta::HWY_NAMESPACE {
namespace run_lanes {

namespace hn = hwy::HWY_NAMESPACE;

/// Tag for vectors of bytes, sixteen lanes per channel: 8 rows of 2 sub-blocks.
template <int channels>
using Lanes = hn::CappedTag<std::uint8_t, channels == 1 ? RunPartMaker::channel_lanes : RunPartMaker::lanes>;
/// Vector of such lanes.
template <int channels>
using LaneVector = hn::VFromD<Lanes<channels>>;
/// Lanes in a vector.
template <int channels>
constexpr std::size_t vector_lanes = hn::MaxLanes(Lanes<channels>());
/// Channels in a vector.
template <int channels>
constexpr std::size_t channels_each = vector_lanes<channels> / RunPartMaker::channel_lanes;
/// Vectors for all channels.
template <int channels>
constexpr std::size_t vectors_of = (channels + channels_each<channels> - 1) / channels_each<channels>;

/// Number of turns until all lanes have passed their pixels, and number of turns that fit into a transposed row. With
/// three channels one turn more is needed.
template <int channels>
constexpr std::size_t turns_of = 2 * part_side + channels - 2;
constexpr std::size_t row_turns = RunPartMaker::channel_lanes;
template <int channels>
constexpr bool has_last_turn = channels == 3;
static_assert(turns_of<1> <= row_turns && turns_of<3> == row_turns + 1);

/// Lanes that have no pixel in a turn, as masks of bytes.
struct Passive {
    alignas(64) std::uint8_t lanes[turns_of<3>][RunPartMaker::lanes];
};
/// Table for all turns.
inline constexpr Passive passive = [] {
    Passive all{};
    for (int turn = 0; turn < static_cast<int>(turns_of<3>); ++turn)
        for (int lane = 0; lane < static_cast<int>(RunPartMaker::lanes); ++lane) {
            const int x = turn - lane % part_side - lane / static_cast<int>(RunPartMaker::channel_lanes);
            all.lanes[turn][lane] = x >= 0 && x < part_side ? 0 : 0xff;
        }
    return all;
}();

/// Prior knowledge about the directions in a pair of sub-blocks and around them.
enum class Likeness {
    all,       ///< all pixels change, all channels in the same direction
    same_way,  ///< the pixels that change go in the same direction with all channels
    none       ///< no common direction
};

/// A magnitude, 0 where a pixel stays, and its direction: 1 up, 2 down. The direction is used only with Likeness::none.
template <class V>
struct Step {
    V magnitude, way;
};

/// Two neighbours in order of size. If only one of them counts, both have its value.
template <class V>
struct Pair {
    V smaller, larger;
};
/// Orders two neighbours. A value of 0 does not count, unless it is known that all pixels change.
template <Likeness like, class D, class V = hn::VFromD<D>>
HWY_INLINE Pair<V> both_tell(D d, V one, V other) {
    const auto larger = hn::Max(one, other);
    if constexpr (like == Likeness::all) return {hn::Min(one, other), larger};
    // Subtracting 1 turns 0 into the largest value, so the minimum ignores it.
    const auto by = hn::Set(d, 1);
    return {hn::Add(hn::Min(hn::Sub(one, by), hn::Sub(other, by)), by), larger};
}

/// Returns the expected magnitudes if the previous channel does not count: left + above - corner, clamped to the range
/// between left and above (rule 2 of format.md, "A pixel").
template <Likeness like, class D, class V = hn::VFromD<D>>
HWY_INLINE V expect_straight(D d, const Pair<V>& of, V corner) {
    if constexpr (like != Likeness::all)
        corner = hn::IfThenElse(hn::Eq(corner, hn::Zero(d)), hn::AverageRound(of.smaller, of.larger), corner);
    const auto held = hn::Min(hn::Max(corner, of.smaller), of.larger);
    return hn::Add(of.smaller, hn::Sub(of.larger, held));
}
/// Returns the expected magnitudes if it does: those of the previous channel plus the average difference between the
/// neighbours in the two channels, rounded towards zero (rule 1).
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V expect_more(D d, V before, const Pair<V>& of, const Pair<V>& of_before) {
    // AverageRound rounds up, which is wrong by a half if exactly one of the two sums is odd.
    const auto one = hn::Set(d, 1);
    const auto half = hn::Xor(of.smaller, of.larger), half_before = hn::Xor(of_before.smaller, of_before.larger);
    const auto here = hn::AverageRound(of.smaller, of.larger);
    const auto there = hn::AverageRound(of_before.smaller, of_before.larger);
    const auto more = hn::SaturatedSub(hn::SaturatedSub(here, there), hn::And(hn::AndNot(half_before, half), one));
    const auto less = hn::SaturatedSub(hn::SaturatedSub(there, here), hn::And(hn::AndNot(half, half_before), one));
    return hn::SaturatedSub(hn::SaturatedAdd(before, more), less);
}

/// unfold_within() for numbers that are larger by 1. A result beyond the nearer end of the range counts from the other
/// end.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V unfold_all(D d, V folded, V expected) {
    static_assert(max_steps == 255);
    const hn::Repartition<std::uint16_t, D> d16;
    const auto zero = hn::Zero(d);
    const auto reach = hn::And(hn::BitCast(d, hn::ShiftRight<1>(hn::BitCast(d16, folded))), hn::Set(d, 0x7f));
    const auto down = hn::Sub(zero, hn::And(folded, hn::Set(d, 1)));
    const auto near = hn::Add(expected, hn::Sub(hn::Xor(reach, down), down));
    const auto is_above_low = hn::Gt(expected, reach);
    const auto is_beyond_high = hn::Gt(expected, hn::Xor(reach, hn::Set(d, 0xff)));
    return hn::IfThenElse(is_above_low, hn::IfThenElse(is_beyond_high, hn::Sub(zero, folded), near), folded);
}

/// Computes the magnitudes of two sub-blocks, turn by turn. All directions are known beforehand, so magnitudes depend
/// on magnitudes only. If all directions are equal, they are not looked at.
template <int channels, Likeness like>
class Chain {
    using D = Lanes<channels>;
    using V = hn::VFromD<D>;
    using Mask = hn::Mask<D>;
    static constexpr std::size_t vectors = vectors_of<channels>, n = vector_lanes<channels>;
    static constexpr bool has_ways = like == Likeness::none;

public:
    /// Loads the borders of a pair of sub-blocks.
    HWY_INLINE explicit Chain(const RunPartMaker::Pair& of) {
        const D d;
        const auto zero = hn::Zero(d);
        for (std::size_t i = 0; i < vectors; ++i) {
            left_[i] = {load(of.left, i), has_ways ? load(of.ways_left, i) : zero};
            for (std::size_t part = 0; part < RunPartMaker::of_pair; ++part)
                above_[i][part] = {load(of.above[part], i), has_ways ? load(of.ways_above[part], i) : zero};
            corner_[i] = next_above(i);
            before_[i] = before_left_[i] = before_above_[i] = {zero, zero};
        }
    }

    /// Computes one turn from the folded magnitudes and, with Likeness::none, the directions. Leaves the magnitudes of
    /// all lanes in `made`, which may be the same array as `folded`.
    HWY_INLINE void pass(std::size_t turn, const RunPartMaker::Lanes& folded, const RunPartMaker::Lanes& ways,
                         RunPartMaker::Lanes& made) {
        const D d;
        const auto zero = hn::Zero(d);
        Step<V> told[vectors], told_left[vectors], told_above[vectors];
        if constexpr (has_ways) {
            to_next_channel(before_, told);
            to_next_channel(before_left_, told_left);
            to_next_channel(before_above_, told_above);
        } else {
            // All channels change, so the previous channel of this pixel was computed one turn ago, and the one of the
            // pixel to its left one turn before.
            to_next_channel(left_, told);
            to_next_channel(corner_, told_above);
            for (std::size_t i = 0; i < vectors; ++i) told_left[i] = std::exchange(before_[i], told[i]);
        }
        for (std::size_t i = 0; i < vectors; ++i) {
            const auto first = next_above(i);
            const Step<V> above{below(left_[i].magnitude, first.magnitude),
                                has_ways ? below(left_[i].way, first.way) : zero};
            const auto pixels = load(folded, i);
            const auto stays = hn::Eq(pixels, zero);
            Step<V> here{zero, has_ways ? load(ways, i) : zero};
            V expected;
            if constexpr (has_ways) {
                const auto alike = [&](const Step<V>& other, const Step<V>& also) HWY_ATTR {
                    return hn::IfThenElseZero(hn::And(hn::Eq(other.way, here.way), hn::Eq(also.way, here.way)),
                                              other.magnitude);
                };
                const auto straight =
                    expect_straight<like>(d, both_tell<like>(d, alike(left_[i], left_[i]), alike(above, above)),
                                          alike(corner_[i], corner_[i]));
                const auto more =
                    expect_more(d, told[i].magnitude,
                                both_tell<like>(d, alike(left_[i], told_left[i]), alike(above, told_above[i])),
                                both_tell<like>(d, alike(told_left[i], left_[i]), alike(told_above[i], above)));
                expected = hn::IfThenElse(hn::Eq(told[i].way, here.way), more, straight);
            } else {
                const auto both = both_tell<like>(d, left_[i].magnitude, above.magnitude);
                const auto straight = expect_straight<like>(d, both, corner_[i].magnitude);
                const auto more = expect_more(d, told[i].magnitude, both,
                                              both_tell<like>(d, told_left[i].magnitude, told_above[i].magnitude));
                expected = hn::IfThenElse(is_first_channel(i), straight, more);
            }
            here.magnitude = unfold_all(d, pixels, hn::Max(expected, hn::Set(d, 1)));
            corner_[i] = above;
            if constexpr (like == Likeness::all) {
                left_[i].magnitude = hn::IfThenElse(stays, left_[i].magnitude, here.magnitude);
            } else {
                if constexpr (has_ways) {
                    before_[i] = where(stays, told[i], here);
                    before_left_[i] = where(stays, told_left[i], left_[i]);
                    before_above_[i] = where(stays, told_above[i], above);
                }
                // Before its first pixel a lane keeps the pixel to the left of the sub-block, after its last one that
                // pixel.
                const auto is_passive = hn::Load(d, passive.lanes[turn] + i * n);
                left_[i] =
                    where(stays, {hn::And(is_passive, left_[i].magnitude), hn::And(is_passive, left_[i].way)}, here);
            }
            hn::Store(left_[i].magnitude, d, &made[i * n]);
        }
    }

    /// Stores the last column of the pair as the left border of the next one.
    HWY_INLINE void leave(RunPartMaker::Pair& of) const {
        for (std::size_t i = 0; i < vectors; ++i) {
            hn::Store(left_[i].magnitude, D(), &of.left[i * n]);
            if (has_ways) hn::Store(left_[i].way, D(), &of.ways_left[i * n]);
        }
    }

private:
    static HWY_INLINE V load(const RunPartMaker::Lanes& lanes, std::size_t vector) {
        return hn::Load(D(), &lanes[vector * n]);
    }
    static HWY_INLINE Step<V> where(Mask mask, const Step<V>& yes, const Step<V>& no) {
        return {hn::IfThenElse(mask, yes.magnitude, no.magnitude),
                has_ways ? hn::IfThenElse(mask, yes.way, no.way) : no.way};
    }
    static HWY_INLINE Mask is_first_channel(std::size_t vector) {
        return hn::FirstN(D(), vector == 0 ? RunPartMaker::channel_lanes : 0);
    }

    // Returns the next pixel above each of the two sub-blocks, in the lane of that sub-block's first row.
    HWY_INLINE Step<V> next_above(std::size_t i) {
        const hn::Repartition<std::uint64_t, D> d64;
        const auto next = [&](V Step<V>::*of) HWY_ATTR {
            auto &one = above_[i][0].*of, &other = above_[i][1].*of;
            const auto both = hn::InterleaveLower(d64, hn::BitCast(d64, one), hn::BitCast(d64, other));
            one = hn::ShiftRightBytes<1>(D(), one);
            other = hn::ShiftRightBytes<1>(D(), other);
            return hn::BitCast(D(), hn::And(both, hn::Set(d64, 0xff)));
        };
        return {next(&Step<V>::magnitude), has_ways ? next(&Step<V>::way) : hn::Zero(D())};
    }
    // Shifts each lane to the next row; the first rows get `first`, the pixels above the sub-blocks.
    static HWY_INLINE V below(V of, V first) {
        const hn::Repartition<std::uint64_t, D> d64;
        return hn::Or(hn::BitCast(D(), hn::ShiftLeft<8>(hn::BitCast(d64, of))), first);
    }

    // Moves the lanes of each channel to the next one. The first channel has no predecessor; it gets zeros, or an
    // unspecified value if directions are not looked at.
    static HWY_INLINE void to_next_channel(const Step<V> (&of)[vectors], Step<V> (&to)[vectors]) {
        const D d;
        const auto zero = hn::Zero(d);
        for (std::size_t i = 0; i < vectors; ++i) {
            const auto& last = i == 0 ? Step<V>{zero, zero} : of[i - 1];
            to[i] = {moved_on(of[i].magnitude, last.magnitude), has_ways ? moved_on(of[i].way, last.way) : zero};
        }
        if (has_ways && channels_each < channels >> 2) to[0] = where(is_first_channel(0), {zero, zero}, to[0]);
    }
    // Shifts a vector by one channel; `last` is the vector before it.
    static HWY_INLINE V moved_on(V of, [[maybe_unused]] V last) {
        const D d;
        if constexpr (channels_each<channels> == 1) {
            return last;
        } else if constexpr (channels_each<channels> == 2) {
            return hn::ConcatLowerUpper(d, of, last);
        } else {
            // A vector has four channels here. It is rotated by one.
            const hn::Repartition<std::int32_t, D> words;
            constexpr std::size_t count = n / sizeof(std::int32_t), each = RunPartMaker::channel_lanes / 4;
            HWY_ALIGN static constexpr auto order = [] {
                std::array<std::int32_t, count> from{};
                for (std::size_t i = 0; i < count; ++i) from[i] = static_cast<std::int32_t>((i + count - each) % count);
                return from;
            }();
            return hn::BitCast(d,
                               hn::TableLookupLanes(hn::BitCast(words, of), hn::SetTableIndices(words, order.data())));
        }
    }

    Step<V> left_[vectors], above_[vectors][RunPartMaker::of_pair], corner_[vectors];
    Step<V> before_[vectors], before_left_[vectors], before_above_[vectors];
};

/// Transposes sixteen rows of sixteen bytes per channel: rows of pixels to turns of lanes, or back. Not inlined,
/// because the code is long and has several callers.
template <int channels>
HWY_NOINLINE void transpose(const RunPartMaker::Rows& from, RunPartMaker::Rows& to) {
    const Lanes<channels> d;
    constexpr std::size_t half = RunPartMaker::channel_lanes / 2;
    // Expanded by an index sequence: in loops that a compiler does not unroll, the vectors would go through memory.
    [&]<std::size_t... i>(std::index_sequence<i...>) HWY_ATTR __attribute__((always_inline)) {
        using V = LaneVector<channels>;
        for (std::size_t at = 0; at < vectors_of<channels> * vector_lanes<channels>; at += vector_lanes<channels>) {
            V rows[] = {hn::Load(d, &from[i][at])..., hn::Load(d, &from[i + half][at])...};
            // Interleaving the rows of the two halves four times transposes 16x16 bytes.
            const auto pair_up = [&]() HWY_ATTR __attribute__((always_inline)) {
                const V lower[] = {hn::InterleaveLower(d, rows[i], rows[i + half])...};
                const V upper[] = {hn::InterleaveUpper(d, rows[i], rows[i + half])...};
                ((rows[2 * i] = lower[i], rows[2 * i + 1] = upper[i]), ...);
            };
            pair_up();
            pair_up();
            pair_up();
            pair_up();
            ((hn::Store(rows[i], d, &to[i][at]), hn::Store(rows[i + half], d, &to[i + half][at])), ...);
        }
    }
    (std::make_index_sequence<half>());
}

}  // namespace run_lanes
}  // namespace framewire::delta::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
