// Magnitudes of parts in runs, made in lanes: include inside a SIMD source, after <hwy/highway.h>.
//
// A magnitude hangs on those to its left and above, and on the channel before. So a part is made in slanted columns: a
// lane for each row of each channel. A row is one pixel behind the one above it, a channel one behind the one before.
// Then all that a lane asks for was made one or two turns ago, most of it by the lane beside it.

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

// Of a part in vectors: eight lanes, or sixteen bytes, for each channel.
template <int channels>
using Lanes = hn::CappedTag<std::int16_t, channels == 1 ? part_side : RunPartMaker::lanes>;
template <int channels>
using LaneBytes = hn::Repartition<std::uint8_t, Lanes<channels>>;
template <int channels>
using LaneVector = hn::VFromD<Lanes<channels>>;

template <int channels>
constexpr int vector_lanes = hn::MaxLanes(Lanes<channels>());
template <int channels>
constexpr int channels_each = vector_lanes<channels> / part_side;  // of a vector
template <int channels>
constexpr int vectors_of = (channels + channels_each<channels> - 1) / channels_each<channels>;

/// How many turns it takes until all lanes have passed their pixels. As many as a row of bytes are told by two.
template <int channels>
constexpr int turns_of = 2 * part_side + channels - 2;
constexpr int paired_turns = 2 * part_side;

/// The lanes that have a pixel in a turn.
struct Active {
    alignas(64) std::int16_t lanes[turns_of<3>][RunPartMaker::lanes];
};
inline constexpr Active active = [] {
    Active all{};
    for (int turn = 0; turn < turns_of<3>; ++turn)
        for (int lane = 0; lane < RunPartMaker::lanes; ++lane) {
            const int x = turn - lane % part_side - lane / part_side;
            all.lanes[turn][lane] = x >= 0 && x < part_side ? -1 : 0;
        }
    return all;
}();

/// What is known beforehand of the pixels of a part and around it.
enum class Likeness {
    none,
    same_way,  ///< those that change all go the same way, with all channels
    all        ///< the same, and all of them change
};

/// A magnitude, 0 where a pixel stays, and which way it goes: 1 up, 2 down. Those of pixels that go the same way as
/// others beforehand are not asked for.
template <class V>
struct Step {
    V magnitude, way;
};

template <class V>
struct Magnitudes {
    V left, above, corner, before, left_before, above_before;
};
/// Half of a number, rounded towards zero.
template <class V>
HWY_INLINE V halved(V number) {
    return hn::ShiftRight<1>(hn::Sub(number, hn::BroadcastSignBit(number)));
}
template <class V>
HWY_INLINE V clamp(V number, V low, V high) {
    return hn::Min(hn::Max(number, low), high);
}

/// expected magnitudes of step_formulas.hpp, where pixels change all channels the same way or none. `has_before`: lanes
/// of all channels but the first.
template <Likeness like, class D, class V = hn::VFromD<D>>
HWY_INLINE V expect_alike(D d, hn::Mask<D> has_before, const Magnitudes<V>& of) {
    static_assert(like != Likeness::none);
    const auto zero = hn::Zero(d), one = hn::Set(d, 1);
    const auto smaller = hn::Min(of.left, of.above), larger = hn::Max(of.left, of.above);
    // Of one that stays nothing is more.
    auto more = hn::Add(hn::Sub(of.left, of.left_before), hn::Sub(of.above, of.above_before));
    const auto sum = hn::Add(of.left, of.above);
    auto straight = hn::Sub(sum, of.corner), low = smaller, high = larger;
    if constexpr (like == Likeness::all) {
        more = halved(more);
    } else {
        const auto both_tell = hn::Gt(smaller, zero);
        more = hn::IfThenElse(both_tell, halved(more), more);
        // Where only one tells, or none, both ends are the same.
        straight = hn::IfThenElse(hn::Gt(of.corner, zero), straight, hn::ShiftRight<1>(sum));
        high = hn::Max(larger, one);
        low = hn::IfThenElse(both_tell, smaller, high);
    }
    return clamp(hn::IfThenElse(has_before, hn::Add(of.before, more), straight), hn::IfThenElse(has_before, one, low),
                 hn::IfThenElse(has_before, hn::Set(d, max_steps), high));
}

/// The same of any pixels. `same`: where the channel before goes the same way. The others: where that is told by the
/// pixel to the left, by that and the same pixel's channel before, and so on.
template <class D>
struct Told {
    hn::Mask<D> same, by_left, by_above, by_corner, by_left_before, by_above_before;
};
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V expect(D d, const Told<D>& told, const Magnitudes<V>& of) {
    const auto one = hn::Set(d, 1);
    const auto more_left = hn::Sub(of.left, of.left_before), more_above = hn::Sub(of.above, of.above_before);
    const auto use_left = hn::And(told.by_left, told.by_left_before);
    const auto use_above = hn::And(told.by_above, told.by_above_before);
    const auto all = hn::Add(hn::IfThenElseZero(use_left, more_left), hn::IfThenElseZero(use_above, more_above));
    const auto more = hn::IfThenElse(hn::And(use_left, use_above), halved(all), all);
    // Where only one tells it does so for both.
    const auto a = hn::IfThenElse(told.by_left, of.left, hn::IfThenElse(told.by_above, of.above, one));
    const auto b = hn::IfThenElse(told.by_above, of.above, a), sum = hn::Add(a, b);
    const auto straight = hn::IfThenElse(told.by_corner, hn::Sub(sum, of.corner), hn::ShiftRight<1>(sum));
    return clamp(hn::IfThenElse(told.same, hn::Add(of.before, more), straight),
                 hn::IfThenElse(told.same, one, hn::Min(a, b)),
                 hn::IfThenElse(told.same, hn::Set(d, max_steps), hn::Max(a, b)));
}
/// unfold_within() of numbers of which each is one too large: what is beyond the nearer end counts from the other one.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V unfold_all(D d, V folded, V expected) {
    const auto beyond = hn::Set(d, max_steps + 1), reach = hn::ShiftRight<1>(folded);
    const auto down = hn::Neg(hn::And(folded, hn::Set(d, 1)));
    const auto near = hn::Add(expected, hn::Sub(hn::Xor(reach, down), down));
    const auto is_above_low = hn::Gt(expected, reach), is_below_high = hn::Gt(hn::Sub(beyond, reach), expected);
    return hn::IfThenElse(is_above_low, hn::IfThenElse(is_below_high, near, hn::Sub(beyond, folded)), folded);
}

/// Makes a part's magnitudes, turn by turn. Which neighbours go the same way is known beforehand, so magnitudes wait
/// for magnitudes only. Where all go the same way nobody asks for ways.
template <int channels, Likeness like>
class Chain {
    using D = Lanes<channels>;
    using V = hn::VFromD<D>;
    static constexpr int vectors = vectors_of<channels>;
    static constexpr bool has_ways = like == Likeness::none;

public:
    using Turn = V[vectors];

    HWY_INLINE Chain(const RunPartMaker::Part& part, const RunPartMaker::Left& left) {
        const D d;
        const auto zero = hn::Zero(d);
        for (int i = 0; i < vectors; ++i) {
            left_[i] = {hn::Load(d, &left.magnitudes[first_lane(i)]),
                        has_ways ? hn::Load(d, &left.ways[first_lane(i)]) : zero};
            above_[i] = {load(part.above, i), has_ways ? load(part.ways_above, i) : zero};
            corner_[i] = {last_byte(above_[i].magnitude), has_ways ? last_byte(above_[i].way) : zero};
            before_[i] = before_left_[i] = before_above_[i] = {zero, zero};
        }
    }

    /// `folded`: as RunPartMaker::Part has it, and `ways` where they count. Leaves all lanes' magnitudes in `made`.
    HWY_INLINE void pass(int turn, const Turn& folded, const Turn& ways, Turn& made) {
        const D d;
        const auto zero = hn::Zero(d);
        Step<V> told[vectors], told_left[vectors], told_above[vectors];
        if constexpr (has_ways) {
            to_next_channel(before_, told);
            to_next_channel(before_left_, told_left);
            to_next_channel(before_above_, told_above);
        } else {
            // All channels change: the one before was here a turn ago, and that turn's is to the left of it now.
            to_next_channel(left_, told);
            to_next_channel(corner_, told_above);
            for (int i = 0; i < vectors; ++i) told_left[i] = std::exchange(before_[i], told[i]);
        }
        for (int i = 0; i < vectors; ++i) {
            const Step<V> above{below(left_[i].magnitude, above_[i].magnitude),
                                has_ways ? below(left_[i].way, above_[i].way) : zero};
            above_[i] = {next_byte(above_[i].magnitude), has_ways ? next_byte(above_[i].way) : zero};
            const auto changes = hn::Gt(folded[i], zero);
            const Magnitudes<V> of{left_[i].magnitude, above.magnitude,        corner_[i].magnitude,
                                   told[i].magnitude,  told_left[i].magnitude, told_above[i].magnitude};
            V expected;
            if constexpr (has_ways) {
                const auto like_this = [&](const Step<V>& other) HWY_ATTR { return hn::Eq(other.way, ways[i]); };
                const Told<D> by{like_this(told[i]),    like_this(left_[i]),     like_this(above),
                                 like_this(corner_[i]), like_this(told_left[i]), like_this(told_above[i])};
                expected = expect(d, by, of);
            } else {
                expected = expect_alike<like>(d, hn::Not(hn::FirstN(d, i == 0 ? part_side : 0)), of);
            }
            Step<V> here{unfold_all(d, folded[i], expected), has_ways ? ways[i] : zero};
            corner_[i] = above;
            if constexpr (like == Likeness::all) {
                left_[i].magnitude = hn::IfThenElse(changes, here.magnitude, left_[i].magnitude);
            } else {
                here.magnitude = hn::IfThenElseZero(changes, here.magnitude);
                if constexpr (has_ways) {
                    before_[i] = where(changes, here, told[i]);
                    before_left_[i] = where(changes, left_[i], told_left[i]);
                    before_above_[i] = where(changes, above, told_above[i]);
                }
                // Before its first pixel a lane has the one to the left of the part, behind its last one that.
                const auto is_active = hn::MaskFromVec(hn::Load(d, active.lanes[turn] + first_lane(i)));
                left_[i] = where(is_active, here, left_[i]);
            }
            made[i] = left_[i].magnitude;
        }
    }

    /// `way`: where all that change go the same way.
    HWY_INLINE void leave(std::int16_t way, RunPartMaker::Left& left) const {
        const D d;
        for (int i = 0; i < vectors; ++i) {
            const auto magnitude = left_[i].magnitude;
            hn::Store(magnitude, d, &left.magnitudes[first_lane(i)]);
            hn::Store(has_ways ? left_[i].way : hn::IfThenElseZero(hn::Gt(magnitude, hn::Zero(d)), hn::Set(d, way)), d,
                      &left.ways[first_lane(i)]);
        }
    }

private:
    static constexpr std::size_t first_lane(int vector) {
        return static_cast<std::size_t>(vector * vector_lanes<channels>);
    }
    static HWY_INLINE V load(const std::array<std::uint8_t, RunPartMaker::row_bytes>& bytes, int vector) {
        return hn::BitCast(D(), hn::Load(LaneBytes<channels>(), &bytes[2 * first_lane(vector)]));
    }
    static HWY_INLINE Step<V> where(hn::Mask<D> mask, const Step<V>& yes, const Step<V>& no) {
        return {hn::IfThenElse(mask, yes.magnitude, no.magnitude),
                has_ways ? hn::IfThenElse(mask, yes.way, no.way) : no.way};
    }
    // Of the pixels above the part, the last byte but one of a channel's sixteen is this turn's.
    static HWY_INLINE V next_byte(V above) {
        const LaneBytes<channels> d8;
        return hn::BitCast(D(), hn::ShiftLeftBytes<1>(d8, hn::BitCast(d8, above)));
    }
    static HWY_INLINE V last_byte(V above) {
        const LaneBytes<channels> d8;
        return hn::BitCast(D(), hn::ShiftRightBytes<15>(d8, hn::BitCast(d8, above)));
    }
    /// Each lane's from the one before it, that is from the row above, and the first row's from above the part.
    static HWY_INLINE V below(V of, V above) {
        const LaneBytes<channels> d8;
        const auto both = hn::CombineShiftRightBytes<14>(d8, hn::BitCast(d8, of), hn::BitCast(d8, above));
        return hn::And(hn::BitCast(D(), both), hn::Set(D(), 0xff));
    }

    /// Of vectors of all channels, those of the channel before; nothing for the first one.
    static HWY_INLINE void to_next_channel(const Step<V> (&of)[vectors], Step<V> (&to)[vectors]) {
        const D d;
        const auto zero = hn::Zero(d);
        if constexpr (channels_each<channels> == 1) {
            to[0] = {zero, zero};
            for (int i = 1; i < vectors; ++i) to[i] = of[i - 1];
        } else {
            // Each vector's eight lanes turned round by one place of eight; the last ones come first.
            const hn::Repartition<std::int32_t, D> words;
            HWY_ALIGN static constexpr auto order = [] {
                std::array<std::int32_t, vector_lanes<channels> / 2> from{};
                for (std::size_t i = 0; i < from.size(); ++i)
                    from[i] = static_cast<std::int32_t>((i + from.size() - part_side / 2) % from.size());
                return from;
            }();
            const auto indices = hn::SetTableIndices(words, order.data());
            const auto turned = [&](V v) HWY_ATTR {
                return hn::BitCast(d, hn::TableLookupLanes(hn::BitCast(words, v), indices));
            };
            const auto first_channel = hn::FirstN(d, part_side);
            Step<V> last{zero, zero};
            for (int i = 0; i < vectors; ++i) {
                const Step<V> now{turned(of[i].magnitude), has_ways ? turned(of[i].way) : zero};
                // Where pixels change all channels the first one does not ask.
                to[i] = !has_ways && i == 0 ? now : where(first_channel, last, now);
                last = now;
            }
        }
    }

    Step<V> left_[vectors], above_[vectors], corner_[vectors];
    Step<V> before_[vectors], before_left_[vectors], before_above_[vectors];
};

/// Eight rows of sixteen bytes for each channel become eight pairs of turns: each lane's byte of the first one, and
/// above it that of the second one. Undoes that, too.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE void transpose(D d, V (&rows)[part_side]) {
    // Three times the rows of the upper half beside those of the lower one.
    const auto pair_up = [&]() HWY_ATTR __attribute__((always_inline)) {
        V next[part_side];
        for (int i = 0; i < part_side / 2; ++i) {
            next[2 * i] = hn::InterleaveLower(d, rows[i], rows[i + part_side / 2]);
            next[2 * i + 1] = hn::InterleaveUpper(d, rows[i], rows[i + part_side / 2]);
        }
        for (int i = 0; i < part_side; ++i) rows[i] = next[i];
    };
    pair_up();
    pair_up();
    pair_up();
}

}  // namespace run_lanes
}  // namespace framewire::delta::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
