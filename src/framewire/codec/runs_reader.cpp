#include "framewire/codec/changes_decoder.hpp"
#include "framewire/codec/models.hpp"
#include "framewire/codec/sub_block_contexts.hpp"
#include "framewire/core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/codec/runs_reader.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

// Reconstruction of the magnitudes of sub-blocks in runs, in SIMD lanes.
//
// A magnitude depends on those to the left and above, and on that of the previous channel. Each row of each channel is
// a lane, and the lanes are skewed: a row lags one pixel behind the row above it, and a channel lags one pixel behind
// the previous one. All inputs of a lane were thus computed one or two turns ago, most of them in the neighbouring
// lane:
//
//     turn         0  1  2  3  4 ...
//     row 0        x0 x1 x2 x3 x4
//     row 1           x0 x1 x2 x3     turn x + y + c computes pixel x in row y of channel c (in coding order)
//     row 2              x0 x1 x2

HWY_BEFORE_NAMESPACE();
namespace framewire::codec::HWY_NAMESPACE {
namespace run_lanes {

namespace hn = hwy::HWY_NAMESPACE;

/// Tag for vectors of bytes with sixteen lanes per channel, for 8 rows of 2 sub-blocks.
template <int channels>
using Lanes = hn::CappedTag<std::uint8_t, channels == 1 ? RunPartMaker::channel_lanes : RunPartMaker::lanes>;
/// Vector of type `Lanes`.
template <int channels>
using LaneVector = hn::VFromD<Lanes<channels>>;
/// Number of lanes in a vector.
template <int channels>
constexpr std::size_t vector_lanes = hn::MaxLanes(Lanes<channels>());
/// Number of channels in a vector.
template <int channels>
constexpr std::size_t channels_each = vector_lanes<channels> / RunPartMaker::channel_lanes;
/// Number of vectors for all channels.
template <int channels>
constexpr std::size_t vectors_of = (channels + channels_each<channels> - 1) / channels_each<channels>;

/// Number of turns until all lanes have computed their pixels, and number of turns that fit into a transposed row. With
/// three channels, one more turn is needed.
template <int channels>
constexpr std::size_t turns_of = 2 * part_side + channels - 2;
constexpr std::size_t row_turns = RunPartMaker::channel_lanes;
template <int channels>
constexpr bool has_last_turn = channels == 3;
static_assert(turns_of<1> <= row_turns && turns_of<3> == row_turns + 1);

/// Byte masks of the lanes that have no pixel in a turn.
struct Passive {
    alignas(64) std::uint8_t lanes[turns_of<3>][RunPartMaker::lanes];
};
/// Masks for all turns.
inline constexpr Passive passive = [] {
    Passive all{};
    for (int turn = 0; turn < static_cast<int>(turns_of<3>); ++turn)
        for (int lane = 0; lane < static_cast<int>(RunPartMaker::lanes); ++lane) {
            const int x = turn - lane % part_side - lane / static_cast<int>(RunPartMaker::channel_lanes);
            all.lanes[turn][lane] = x >= 0 && x < part_side ? 0 : 0xff;
        }
    return all;
}();

/// Knowledge about the directions of the pixels in a pair of sub-blocks and around it.
enum class Likeness {
    all,       ///< all pixels change in all channels, in the same direction
    same_way,  ///< all channels of all pixels that change go in the same direction
    none       ///< no common direction
};

/// Magnitudes, which are 0 for unchanged pixels, and directions: 1 up, 2 down. Directions are used only with
/// Likeness::none.
template <class V>
struct Step {
    V magnitude, way;
};

/// Magnitudes of two neighbours in ascending order. If only one of the neighbours counts, both members have its value.
template <class V>
struct Pair {
    V smaller, larger;
};
/// Sorts the magnitudes of two neighbours. A magnitude of 0 does not count, unless all pixels are known to change.
template <Likeness like, class D, class V = hn::VFromD<D>>
HWY_INLINE Pair<V> both_tell(D d, V one, V other) {
    const auto larger = hn::Max(one, other);
    if constexpr (like == Likeness::all) return {hn::Min(one, other), larger};
    // Subtracting 1 turns 0 into the largest number, which the minimum ignores.
    const auto by = hn::Set(d, 1);
    return {hn::Add(hn::Min(hn::Sub(one, by), hn::Sub(other, by)), by), larger};
}

/// Returns the expected magnitudes for pixels whose previous channel does not count: left + above - corner, clamped to
/// the range between left and above (rule 2 of format.md, "A pixel").
template <Likeness like, class D, class V = hn::VFromD<D>>
HWY_INLINE V expect_straight(D d, const Pair<V>& of, V corner) {
    if constexpr (like != Likeness::all)
        corner = hn::IfThenElse(hn::Eq(corner, hn::Zero(d)), hn::AverageRound(of.smaller, of.larger), corner);
    const auto held = hn::Min(hn::Max(corner, of.smaller), of.larger);
    return hn::Add(of.smaller, hn::Sub(of.larger, held));
}
/// Returns the expected magnitudes for pixels whose previous channel counts: its magnitude, plus the average of the
/// neighbours' differences between the two channels, rounded towards zero (rule 1).
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V expect_more(D d, V before, const Pair<V>& of, const Pair<V>& of_before) {
    // AverageRound rounds up, so the difference is off by a half if exactly one of the two sums is odd.
    const auto one = hn::Set(d, 1);
    const auto half = hn::Xor(of.smaller, of.larger), half_before = hn::Xor(of_before.smaller, of_before.larger);
    const auto here = hn::AverageRound(of.smaller, of.larger);
    const auto there = hn::AverageRound(of_before.smaller, of_before.larger);
    const auto more = hn::SaturatedSub(hn::SaturatedSub(here, there), hn::And(hn::AndNot(half_before, half), one));
    const auto less = hn::SaturatedSub(hn::SaturatedSub(there, here), hn::And(hn::AndNot(half, half_before), one));
    return hn::SaturatedSub(hn::SaturatedAdd(before, more), less);
}

/// SIMD version of unfold_within(), for folded numbers that are larger by 1. If a number reaches beyond the nearer end
/// of the range of magnitudes, the magnitude is counted from that end.
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

/// Computes the magnitudes of a pair of sub-blocks, turn by turn. All directions are known beforehand, so magnitudes
/// depend only on other magnitudes. If all directions are equal, they are not used.
template <int channels, Likeness like>
class Chain {
    using D = Lanes<channels>;
    using V = hn::VFromD<D>;
    using Mask = hn::Mask<D>;
    static constexpr std::size_t vectors = vectors_of<channels>, n = vector_lanes<channels>;
    static constexpr bool has_ways = like == Likeness::none;

public:
    /// Loads the pixels around a pair of sub-blocks.
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

    /// Computes one turn from the folded magnitudes and, with Likeness::none, the directions. Writes the magnitudes of
    /// all lanes to `made`, which may be the same array as `folded`.
    HWY_INLINE void pass(std::size_t turn, const RunPartMaker::Lanes& folded, const RunPartMaker::Lanes& ways,
                         RunPartMaker::Lanes& made) {
        const D d;
        const auto zero = hn::Zero(d);
        Step<V> signalled[vectors], signalled_left[vectors], signalled_above[vectors];
        if constexpr (has_ways) {
            to_next_channel(before_, signalled);
            to_next_channel(before_left_, signalled_left);
            to_next_channel(before_above_, signalled_above);
        } else {
            // All channels change, so the previous channel of this pixel was computed one turn ago, and that of the
            // pixel to the left two turns ago.
            to_next_channel(left_, signalled);
            to_next_channel(corner_, signalled_above);
            for (std::size_t i = 0; i < vectors; ++i) signalled_left[i] = std::exchange(before_[i], signalled[i]);
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
                const auto more = expect_more(
                    d, signalled[i].magnitude,
                    both_tell<like>(d, alike(left_[i], signalled_left[i]), alike(above, signalled_above[i])),
                    both_tell<like>(d, alike(signalled_left[i], left_[i]), alike(signalled_above[i], above)));
                expected = hn::IfThenElse(hn::Eq(signalled[i].way, here.way), more, straight);
            } else {
                const auto both = both_tell<like>(d, left_[i].magnitude, above.magnitude);
                const auto straight = expect_straight<like>(d, both, corner_[i].magnitude);
                const auto more =
                    expect_more(d, signalled[i].magnitude, both,
                                both_tell<like>(d, signalled_left[i].magnitude, signalled_above[i].magnitude));
                expected = hn::IfThenElse(is_first_channel(i), straight, more);
            }
            here.magnitude = unfold_all(d, pixels, hn::Max(expected, hn::Set(d, 1)));
            corner_[i] = above;
            if constexpr (like == Likeness::all) {
                left_[i].magnitude = hn::IfThenElse(stays, left_[i].magnitude, here.magnitude);
            } else {
                if constexpr (has_ways) {
                    before_[i] = where(stays, signalled[i], here);
                    before_left_[i] = where(stays, signalled_left[i], left_[i]);
                    before_above_[i] = where(stays, signalled_above[i], above);
                }
                // Before its first pixel, a lane holds the pixel to the left of the sub-block; after its last pixel, it
                // holds the last one.
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

    // Returns the next pixel above each sub-block of the pair, in the lane of that sub-block's first row.
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
    // Moves each lane to the next row. The first rows get `first`, the pixels above the sub-blocks.
    static HWY_INLINE V below(V of, V first) {
        const hn::Repartition<std::uint64_t, D> d64;
        return hn::Or(hn::BitCast(D(), hn::ShiftLeft<8>(hn::BitCast(d64, of))), first);
    }

    // Moves the lanes of each channel to the next channel. The first channel gets zeros, or unspecified values if
    // directions are not used.
    static HWY_INLINE void to_next_channel(const Step<V> (&of)[vectors], Step<V> (&to)[vectors]) {
        const D d;
        const auto zero = hn::Zero(d);
        for (std::size_t i = 0; i < vectors; ++i) {
            const auto& last = i == 0 ? Step<V>{zero, zero} : of[i - 1];
            to[i] = {moved_on(of[i].magnitude, last.magnitude), has_ways ? moved_on(of[i].way, last.way) : zero};
        }
        if (has_ways && (channels_each<channels>) > 2) to[0] = where(is_first_channel(0), {zero, zero}, to[0]);
    }
    // Moves the lanes of a vector by one channel; `last` is the vector before it.
    static HWY_INLINE V moved_on(V of, [[maybe_unused]] V last) {
        const D d;
        if constexpr (channels_each<channels> == 1) {
            return last;
        } else if constexpr (channels_each<channels> == 2) {
            return hn::ConcatLowerUpper(d, of, last);
        } else {
            // A vector has four channels here, which are rotated by one.
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

/// Transposes sixteen rows of sixteen bytes in each channel, from rows of pixels to turns of lanes, or back. Not
/// inlined, because the code is long and has several callers.
template <int channels>
HWY_NOINLINE void transpose(const RunPartMaker::Rows& from, RunPartMaker::Rows& to) {
    const Lanes<channels> d;
    constexpr std::size_t half = RunPartMaker::channel_lanes / 2;
    // Expanded by an index sequence, because in a loop that the compiler does not unroll, the vectors would go through
    // memory.
    [&]<std::size_t... i>(std::index_sequence<i...>) HWY_ATTR __attribute__((always_inline)) {
        using V = LaneVector<channels>;
        for (std::size_t at = 0; at < vectors_of<channels> * vector_lanes<channels>; at += vector_lanes<channels>) {
            V rows[] = {hn::Load(d, &from[i][at])..., hn::Load(d, &from[i + half][at])...};
            // Interleaving the two halves of the rows four times transposes 16x16 bytes.
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
}  // namespace framewire::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

// Reconstruction of blocks in runs: schedules the sub-blocks so that several independent ones are computed together,
// and converts between rows of pixels and skewed lanes.

HWY_BEFORE_NAMESPACE();
namespace framewire::codec::HWY_NAMESPACE {
namespace run_parts {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using namespace run_layout;
using namespace run_lanes;

// Computes the magnitudes of the sub-blocks in `count` pairs: transposes rows to turns, computes each turn, and
// transposes back.
template <int channels, Likeness like, std::size_t count>
HWY_INLINE void make_magnitudes(RunPartMaker::Pair* pairs) {
    [&]<std::size_t... i>(std::index_sequence<i...>) HWY_ATTR __attribute__((always_inline)) {
        (transpose<channels>(pairs[i].folded, pairs[i].by_turns), ...);
        if (like == Likeness::none) (transpose<channels>(pairs[i].ways, pairs[i].ways_by_turns), ...);
        Chain<channels, like> chains[] = {Chain<channels, like>(pairs[i])...};
        for (std::size_t turn = 0; turn < row_turns; ++turn)
            (chains[i].pass(turn, pairs[i].by_turns[turn], pairs[i].ways_by_turns[turn], pairs[i].by_turns[turn]), ...);
        alignas(64) RunPartMaker::Lanes made;
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

// Writes the differences of a sub-block to `tile`. Returns false if a difference is too large for a byte.
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
    // The loop below is separate, because loading eight bytes soon after they were stored as part of a vector stalls.
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
            // With short vectors, the last pixel lies beyond the vectors of the three channels.
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

// Stores the last row of a sub-block for the sub-block below, and its last column for the sub-block to the right.
template <int channels>
void leave_surroundings(const Made& of, std::size_t at, bool has_ways, const RunPartMaker::Pair& pair,
                        RunPartMaker& maker) {
    constexpr std::size_t last = part_side - 1;
    const auto row = part_side * at + last;
    auto& left = maker.left[of.row];
    for (std::size_t i = 0; i < channels; ++i) {
        // If there are no separate directions, derive them from the magnitudes: all changed pixels have the same
        // direction.
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

// Reconstructs some sub-blocks that do not depend on each other. Returns false if a difference is too large for a byte.
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
    // If a pair takes several vectors, these give the processor enough independent work. Otherwise, two pairs are
    // computed together.
    constexpr std::size_t together = vectors_of<channels> == 1 ? RunPartMaker::most_pairs : 1;
    const auto pairs = (of.size() + RunPartMaker::of_pair - 1) / RunPartMaker::of_pair;
    for (std::size_t i = 0; i < pairs; i += together) {
        if (pairs - i >= together)
            make_magnitudes<channels, like, together>(&maker.pairs[i]);
        else
            make_magnitudes<channels, like, 1>(&maker.pairs[i]);
    }
    bool whole = true;
    for (std::size_t i = 0; i < of.size(); ++i) {
        whole &= give_rows<channels>(of[i], i % RunPartMaker::of_pair, has_ways, threshold, tile, pair_of(i));
        leave_surroundings<channels>(of[i], i % RunPartMaker::of_pair, has_ways, pair_of(i), maker);
    }
    return whole;
}

// Returns the most specific Likeness that the behaviours of all pixels allow.
Likeness like_of(std::uint8_t does) {
    if ((does & some_go_up) && (does & some_go_down)) return Likeness::none;
    return does & some_stay ? Likeness::same_way : Likeness::all;
}

// Reconstructs the sub-blocks of a block. A sub-block depends on those to the left and above, so each row of sub-blocks
// may advance as far as the row above. Up to `at_once` rows therefore advance together:
//
//     row 0   done done done  now
//     row 1   done done  now   .
//     row 2   done  now   .    .
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

    // Reconstructs the block. Returns false if a difference is too large for a byte.
    bool make() {
        for (std::size_t first = 0; first < rows_;) {
            std::array<Made, RunPartMaker::at_once> some;
            std::size_t count = 0;
            for (auto row = first; row < rows_ && count < some.size(); ++row)
                if (pass_those_that_stay(row)) some[count++] = next(row);
            const auto made = std::span<const Made>(some).first(count);
            // These sub-blocks are from different rows and do not depend on each other.
            if (count > 0 && !make_some(made)) return false;
            for (const auto& of : made) ++come_[of.row];
            while (first < rows_ && come_[first] == columns_) ++first;
        }
        return true;
    }

private:
    PartSet bit(std::size_t row) const { return part_bit(static_cast<int>(come_[row]), static_cast<int>(row)); }
    // Skips unchanged sub-blocks of a row. Returns true if the next sub-block changes and all sub-blocks that it
    // depends on are finished.
    bool pass_those_that_stay(std::size_t row) {
        const auto end = row == 0 ? columns_ : come_[row - 1];
        for (; come_[row] < end; ++come_[row]) {
            if (changed_ & bit(row)) return true;
            pass(come_[row], row, maker_);
        }
        return false;
    }
    // Returns the next sub-block of a row and updates the stored behaviours.
    Made next(std::size_t row) {
        const auto& part = parts_[static_cast<std::size_t>(std::popcount(changed_ & (bit(row) - 1)))];
        return {&part, come_[row], row, look_around(part, come_[row], row, maker_)};
    }
    // Reconstructs the sub-blocks with the fastest variant that is correct for all of them. The values of Likeness are
    // in ascending order of generality.
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
    std::array<std::size_t, parts_per_row> come_{};  // number of finished sub-blocks per row
};

}  // namespace
}  // namespace run_parts

bool make_run_block(const BlockPlace& block, std::span<const RunPart> parts, PartSet changed,
                    const std::uint8_t* folded, int threshold, HostView<std::uint8_t> tile, RunPartMaker& maker) {
    return tile.shape().channels == 1
               ? run_parts::BlockMaker<1>(block, parts, changed, folded, threshold, tile, maker).make()
               : run_parts::BlockMaker<3>(block, parts, changed, folded, threshold, tile, maker).make();
}

}  // namespace framewire::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire::codec {

HWY_EXPORT(make_run_block);

bool RunPartMaker::make(const BlockPlace& block, std::span<const RunPart> parts, PartSet changed,
                        const std::uint8_t* folded, int threshold, HostView<std::uint8_t> tile) {
    return HWY_DYNAMIC_DISPATCH(make_run_block)(block, parts, changed, folded, threshold, tile, *this);
}

}  // namespace framewire::codec

#endif

#if HWY_ONCE

// Construction of the lookup tables (ReadingTables) from the frequencies of the models.

namespace framewire::codec {
namespace {

// Fills the tables from the frequencies of a set of models.
ReadingTables tables_of(const StepModels& models) {
    ReadingTables tables{};
    for (int signalled = 0; signalled < static_cast<int>(tables.changes_from.size()); ++signalled) {
        const int model = changed_model_of(signalled);
        if (model < step_models::changed.count)
            tables.changes_from[static_cast<std::size_t>(signalled)] =
                static_cast<std::uint16_t>(models.frequency(step_models::changed.at(model)));
    }
    for (const unsigned rank : {0u, 1u}) {
        const auto traits = rank_traits[rank];
        const int pattern = step_models::pattern.at(signalled_patterns.left[traits] | signalled_patterns.above[traits]);
        tables.alike_pattern[rank] = {models.start(pattern + static_cast<int>(rank)),
                                      models.frequency(pattern + static_cast<int>(rank))};
    }
    auto* guess = tables.alike.data();
    for (int model = 0; model < ReadingTables::alike_models; ++model) {
        const int first = ReadingTables::first(model) + 2 * step_models::magnitude.symbols;
        int symbol = 0;
        for (std::uint32_t place = 0; place < rans::probability_one; place += 1u << ReadingTables::guess_shift) {
            while (models.start(first + symbol) + models.frequency(first + symbol) <= place) ++symbol;
            if (static_cast<std::size_t>(symbol) < near_magnitudes.size())
                *guess = models.start(first + symbol) | models.frequency(first + symbol) << rans::probability_bits |
                         static_cast<std::uint32_t>(near_magnitudes[static_cast<std::size_t>(symbol)])
                             << (2 * rans::probability_bits);
            ++guess;
        }
    }
    return tables;
}

}  // namespace

const ReadingTables& reading_tables(const StepModels& models) {
    static const auto all = [] {
        std::array<ReadingTables, step_models::sets> of{};
        for (std::size_t set = 0; set < of.size(); ++set) of[set] = tables_of(step_model_sets()[set]);
        return of;
    }();
    return all[static_cast<std::size_t>(&models - step_model_sets().data())];
}

}  // namespace framewire::codec

// Reader for blocks in runs. A block is read in three phases:
//
//     1. modes, rows and classes of all sub-blocks, symbol by symbol
//     2. all folded magnitudes, 32 states in parallel (read_residuals())
//     3. magnitudes and differences of the sub-blocks, in SIMD lanes (RunPartMaker)
//
// Only the symbols of the first phase, which are few, form a chain of dependencies.

namespace framewire::codec {
namespace {

constexpr std::uint64_t each_byte = ~std::uint64_t{0} / 255;

// Reads the pixels of a mixed row and returns their traits. `signalled`: contributions of the rows above. `before`:
// traits of the pixel to the left of the row. `second`: whether the pixel two to the left of the row changes.
template <int channels, class Reader>
std::uint64_t read_mixed(Reader& reader, const StepModels& models, const ReadingTables& tables,
                         const RowAbove& signalled, unsigned before, bool second, int width,
                         std::array<Pattern, part_side>& patterns, std::array<int, 3>& counts) {
    std::uint64_t traits = 0;
    unsigned seconds = second ? RowAbove::second_bit : 0;
    for (std::size_t x = 0; x < static_cast<std::size_t>(width); ++x) {
        const auto changes_from = tables.changes_from[signalled.changed[x] | seconds | (before & 3)];
        seconds = before ? RowAbove::second_bit : 0;
        if (!StepModels::read_flag_from(reader, changes_from)) {
            before = 0;
            patterns[x] = 0;
            continue;
        }
        const int model =
            signalled_patterns.left[signalled.corner[x] | before] | signalled_patterns.above[signalled.above[x]];
        const auto rank = read_pattern<channels>(reader, models, model);
        const auto& pattern = pattern_readings[patterns_by_frequency[rank]];
        patterns[x] = patterns_by_frequency[rank];
        before = pattern.traits;
        traits |= std::uint64_t{before} << (8 * x);
        for (std::size_t i = 0; i < channels; ++i)
            counts[i] += pattern.signs[channels == 1 ? 0 : channel_order[i]] != 0;
    }
    return traits;
}

// Reads the rows of a sub-block. `above` is the last row of the sub-block above. Returns false if an edge is not inside
// its row.
template <int channels, class Reader>
bool read_rows(Reader& reader, const StepModels& models, const ReadingTables& tables, RunRow above, ReadPixels& pixels,
               RunPart& part) {
    part.counts = {};
    part.rows = {};
    int in_runs = 0;
    for (int row = 0; row < part.height; ++row) {
        const int y = part.top + row;
        const unsigned left = pixels.traits(part.left - 1, y);
        const int model = RunRow::model(above, static_cast<int>(left >> direction_bit));
        RunRow here{static_cast<RowKind>(models.read(reader, step_models::row.at(model), step_models::row.symbols))};
        if (RunRow::has_edge(here.kind)) {
            here.edge = static_cast<std::uint8_t>(
                models.read(reader, step_models::edge.at(here.edge_model(above)), step_models::edge.symbols));
            if (here.edge == 0 || here.edge >= part.width) return false;
        }
        above = here;
        part.rows[static_cast<std::size_t>(row)] = here;
        if (here.kind == RowKind::mixed) {
            // The sub-block above right is known only in the first row.
            const auto right = row == 0 ? pixels.traits(part.left + part_side, y - 1) : 0;
            const auto signalled = row_above(pixels.row_traits(part.left, y - 1), pixels.row_traits(part.left, y - 2),
                                             pixels.traits(part.left - 1, y - 1), right);
            pixels.set_row_traits(
                part.left, y,
                read_mixed<channels>(reader, models, tables, signalled, left, pixels.traits(part.left - 2, y) != 0,
                                     part.width, part.mixed[static_cast<std::size_t>(row)], part.counts));
            continue;
        }
        const auto bytes = here.bytes(part.width);
        pixels.set_row_traits(part.left, y, bytes & (each_byte * rank_traits[here.goes_down()]));
        in_runs += std::popcount(bytes) / 8;
    }
    for (std::size_t i = 0; i < channels; ++i) part.counts[i] += in_runs;
    return true;
}

// Reads a block without reconstructing it: first modes, rows and classes, and then the folded magnitudes, which have
// separate states.
template <int channels, class Reader>
FoundChanges read_block(StepBytes& bytes, Reader reader, const StepModels& models, const BlockPlace& block,
                        HostView<std::uint8_t> tile, HostView<const std::uint8_t> held, ReadPixels& pixels,
                        RunsReader& to) {
    const auto& tables = reading_tables(models);
    CodedParts modes;
    FoundChanges found{false, 0, 0};
    std::array<RunRow, parts_per_row> above{};
    std::array<int, 3> classes{};
    to.part_count = to.size_count = 0;
    for (int row = 0; row < block.part_rows(); ++row)
        for (int column = 0; column < block.part_columns(); ++column) {
            const auto changes = read_part_changes(bytes, reader, models, modes, column, row);
            if (!changes) return found;
            auto& row_above = above[static_cast<std::size_t>(column)];
            if (!*changes) {
                row_above = {};
                continue;
            }
            found.parts |= part_bit(column, row);
            bring_near(tile, held, block, found.parts, column, row);
            auto& part = to.parts[to.part_count++];
            part.left = column * part_side;
            part.top = row * part_side;
            part.width = std::min(part_side, block.width - part.left);
            part.height = std::min(part_side, block.height - part.top);
            if (!read_rows<channels>(reader, models, tables, row_above, pixels, part)) return found;
            row_above = part.rows[static_cast<std::size_t>(part.height - 1)];
            part.first = found.count;
            for (std::size_t i = 0; i < channels; ++i) {
                if (part.counts[i] == 0) continue;
                const int model = part_class_model(classes[i], i == 0);
                classes[i] = models.read(reader, step_models::part_class.at(model), step_models::part_class.symbols);
                to.sizes[to.size_count++] = {static_cast<std::uint8_t>(classes[i]),
                                             static_cast<std::uint8_t>(part.counts[i])};
                found.count += static_cast<std::uint32_t>(part.counts[i]);
            }
        }
    if (bytes.behind_end(reader) || !bytes.states_end(reader)) return found;
    const auto magnitudes = std::span(to.magnitudes).subspan(RunPart::padding, found.count);
    found.whole = read_residuals(bytes.rest(reader), std::span(to.sizes).first(to.size_count), magnitudes) &&
                  !std::memchr(magnitudes.data(), max_steps, magnitudes.size());
    return found;
}

}  // namespace

FoundChanges RunsReader::read(StepBytes& words, std::span<const std::uint8_t> bytes, const BlockPlace& block,
                              int threshold, HostView<std::uint8_t> tile, HostView<const std::uint8_t> held,
                              ReadPixels& pixels) {
    auto found = words.read(bytes, [&](const auto& reader, const StepModels& models) {
        return tile.shape().channels == 1 ? read_block<1>(words, reader, models, block, tile, held, pixels, *this)
                                          : read_block<3>(words, reader, models, block, tile, held, pixels, *this);
    });
    if (found.whole)
        found.whole = maker_.make(block, std::span(parts).first(part_count), found.parts,
                                  magnitudes.data() + RunPart::padding, threshold, tile);
    return found;
}

}  // namespace framewire::codec

#endif  // HWY_ONCE
