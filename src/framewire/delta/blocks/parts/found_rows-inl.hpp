// SIMD encoder for the rows of a sub-block, one or two rows at a time: finds their steps, their neighbourhoods and the
// expected magnitudes. Include it inside a Highway target namespace, after <hwy/highway.h>.

#if defined(FRAMEWIRE_DELTA_FOUND_ROWS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef FRAMEWIRE_DELTA_FOUND_ROWS_INL_HPP
#undef FRAMEWIRE_DELTA_FOUND_ROWS_INL_HPP
#else
#define FRAMEWIRE_DELTA_FOUND_ROWS_INL_HPP
#endif

#include "framewire/delta/blocks/parts/part_rows-inl.hpp"
#include "framewire/delta/blocks/step_contexts.hpp"
#include "framewire/delta/blocks/step_pixels.hpp"
#include "framewire/delta/entropy/models/models.hpp"

#include <hwy/highway.h>

#include <array>
#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace framewire::delta::HWY_NAMESPACE {
namespace part_rows {

/// State carried from the rows above to the next rows. It is kept in registers, because a load that overlaps recent
/// stores at another offset stalls. Of two rows only the lower one counts, except in `extent`.
struct RowsAbove {
    Steps here[3], left[3];  ///< steps per channel, and steps of the pixels to the left of those
    Steps direction;
    Steps direction_left, direction_right;  ///< of the pixels to the left and right, 0 where unknown
    Steps extent, second_extent;            ///< `second_extent`: of the rows before those of `extent`
};
/// Loads the rows above the sub-block at (x, y), which belong to other sub-blocks.
template <int channels>
HWY_INLINE RowsAbove rows_above_part(int x, int y, StepPlanes& planes) {
    constexpr std::ptrdiff_t stride = StepPlanes::stride;
    RowsAbove above;
    for (int channel = 0; channel < channels; ++channel) {
        const auto* const at = planes.steps(channel, x, y) - rows_at_once * stride;
        above.here[channel] = steps_at(at);
        above.left[channel] = steps_at(at - 1);
    }
    const auto* const extents = planes.extent(x, y) - rows_at_once * stride;
    const auto* const directions = planes.direction(x, y) - rows_at_once * stride;
    above.extent = bytes_at(extents);
    above.second_extent = rows_at_once == 1 ? bytes_at(extents - stride) : above.extent;
    above.direction = bytes_at(directions);
    above.direction_left = bytes_at(directions - 1);
    above.direction_right = bytes_at(directions + 1);
    return above;
}

/// Decides which differences go up, given that neighbours changed by `like`: signed_steps() for vectors.
HWY_INLINE hn::Mask<Rows> goes_up(Steps difference, Steps like, Steps threshold) {
    const auto negative = hn::Sub(difference, number(256));
    const auto nearer = hn::Lt(hn::Abs(hn::Sub(difference, like)), hn::Abs(hn::Sub(negative, like)));
    return hn::Or(hn::Not(hn::Gt(hn::Sub(number(0), negative), threshold)),
                  hn::And(hn::Gt(difference, threshold), nearer));
}
/// Returns the signed steps of differences whose direction is known; 0 where the difference is 0.
HWY_INLINE Steps steps_of(Steps difference, hn::Mask<Rows> up, Steps threshold) {
    const auto steps =
        hn::IfThenElse(up, hn::Sub(difference, threshold), hn::Add(hn::Sub(difference, number(256)), threshold));
    return hn::IfThenZeroElse(hn::Eq(difference, number(0)), steps);
}

/// Finds the steps of rows and stores them in `planes` and `found`.
///
/// The direction of an ambiguous difference depends on the pixels to its left and above, which would force one pixel at
/// a time. So all directions are guessed at once, and the guesses hold if each agrees with what its neighbours then
/// imply. Otherwise the pixels are done in order.
template <int channels>
HWY_INLINE void find_steps(const Steps* differences, int threshold, int x, int y, StepPlanes& planes,
                           const RowsAbove& above, Around* found) {
    constexpr std::ptrdiff_t stride = StepPlanes::stride;
    const Rows rows;
    const auto zero = number(0), limit = number(threshold);
    const auto around = [&](Steps steps, int channel) HWY_ATTR {
        const auto left = to_the_left<1>(steps, steps_at(planes.steps(channel, x, y) - part_side));
        return Around{steps, left, one_above(steps, above.here[channel]), one_above(left, above.left[channel])};
    };
    auto disagree = zero, like_before = zero;
    for (int i = 0; i < channels; ++i) {
        const int channel = channels == 1 ? 0 : channel_order[i];
        const auto difference = differences[channel];
        const auto stays = hn::Eq(difference, zero);
        const auto up = hn::Or(hn::And(hn::Lt(difference, number(128)), hn::Gt(difference, limit)),
                               hn::Gt(difference, hn::Sub(number(255), limit)));
        const auto steps = steps_of(difference, up, limit);
        store_steps(steps, planes.steps(channel, x, y));
        found[channel] = around(steps, channel);
        const auto near = hn::Add(found[channel].left, found[channel].above);
        const auto like = hn::IfThenElse(hn::Eq(like_before, zero), near, like_before);
        const auto told = hn::Xor(hn::VecFromMask(rows, up), hn::VecFromMask(rows, goes_up(difference, like, limit)));
        disagree = hn::Or(disagree, hn::IfThenZeroElse(stays, told));
        like_before = hn::IfThenElse(stays, like_before, steps);
    }
    if (hn::AllTrue(rows, hn::Eq(disagree, zero))) return;
    HWY_ALIGN std::int16_t of[3][rows_at_once * part_side];
    for (int channel = 0; channel < channels; ++channel) hn::Store(differences[channel], rows, of[channel]);
    for (int pixel = 0; pixel < rows_at_once * part_side; ++pixel) {
        int like = 0;
        for (int i = 0; i < channels; ++i) {
            const int channel = channels == 1 ? 0 : channel_order[i];
            auto* const at = planes.steps(channel, x + pixel % part_side, y + pixel / part_side);
            const int difference = of[channel][pixel];
            if (difference == 0) continue;
            if (!like) like = at[-1] + at[-stride];
            like = signed_steps(static_cast<std::uint8_t>(difference), threshold, like);
            *at = static_cast<std::int16_t>(like);
        }
    }
    for (int channel = 0; channel < channels; ++channel)
        found[channel] = around(steps_at(planes.steps(channel, x, y)), channel);
}

/// Loads the differences of a sub-block's rows, one vector per channel. `bytes` point to rows of 8 whole pixels,
/// whatever the width of the sub-block.
template <int channels>
HWY_INLINE void load_differences(const std::uint8_t* const* bytes, Steps* differences) {
    if constexpr (channels == 1) {
        differences[0] = rows_of([&](int row) HWY_ATTR { return row_of_bytes(bytes[row]); });
    } else {
        const RowBytes row_bytes;
        hn::VFromD<RowBytes> of[rows_at_once][3];
        for (int row = 0; row < rows_at_once; ++row)
            hn::LoadInterleaved3(row_bytes, bytes[row], of[row][0], of[row][1], of[row][2]);
        for (int channel = 0; channel < channels; ++channel)
            differences[channel] = rows_of([&](int row) HWY_ATTR { return hn::PromoteTo(Row(), of[row][channel]); });
    }
}

/// Steps of rows and their patterns and traits.
template <int channels>
struct FoundRows {
    Around of[3];
    Steps pattern, count, extent, direction;  ///< per pixel; `count` is the number of channels that change
};
/// Finds the steps and traits of rows and stores them in `planes`.
template <int channels>
HWY_INLINE FoundRows<channels> find_rows(const std::uint8_t* const* bytes, int threshold, int x, int y,
                                         StepPlanes& planes, const RowsAbove& above) {
    const auto zero = number(0);
    Steps differences[3];
    load_differences<channels>(bytes, differences);
    FoundRows<channels> found;
    find_steps<channels>(differences, threshold, x, y, planes, above, found.of);
    auto pattern = zero, count = zero, up = zero, down = zero;
    for (int channel = 0; channel < channels; ++channel) {
        const auto here = found.of[channel].here;
        const auto ups = one_if(hn::Gt(here, zero)), downs = one_if(hn::Lt(here, zero));
        constexpr int weights[3] = {channels == 1 ? all_up : 1, 3, 9};
        pattern = hn::Add(pattern, hn::Mul(hn::Add(ups, hn::Add(downs, downs)), number(weights[channel])));
        count = hn::Add(count, hn::Add(ups, downs));
        up = hn::Or(up, ups);
        down = hn::Or(down, downs);
    }
    found.pattern = pattern;
    found.count = count;
    found.extent = hn::Add(one_if(hn::Gt(count, zero)), one_if(hn::Eq(count, number(channels))));
    found.direction = hn::Add(up, hn::Add(down, down));
    store_bytes(found.extent, planes.extent(x, y));
    store_bytes(found.direction, planes.direction(x, y));
    return found;
}

/// Returns the symbols of patterns, by two table lookups of 16 bytes each.
HWY_INLINE Steps ranks_of(Steps pattern) {
    alignas(16) static constexpr auto ranks = [] {
        std::array<std::uint8_t, 32> all{};
        for (std::size_t of = 0; of < pattern_ranks.size(); ++of) all[of] = pattern_ranks[of];
        return all;
    }();
    const hn::Repartition<std::uint8_t, Rows> bytes;
    // An index byte with its highest bit set yields 0. That is set in all high bytes, and in the low byte for the table
    // that does not hold the pattern.
    const auto nothing = number(-0x8000);
    const auto low = hn::Or(hn::Or(pattern, nothing), hn::And(hn::ShiftLeft<3>(pattern), number(0x80)));
    const auto high = hn::Or(hn::Sub(pattern, number(16)), nothing);
    const auto look_up = [&](std::size_t from, Steps at) HWY_ATTR {
        return hn::TableLookupBytesOr0(hn::LoadDup128(bytes, &ranks[from]), hn::BitCast(bytes, at));
    };
    return hn::BitCast(Rows(), hn::Or(look_up(0, low), look_up(16, high)));
}

/// Neighbourhood of each pixel of some rows, from which the models for flags and patterns follow.
struct RowNeighbours {
    Steps extent_left, extent_above, second;
    Steps direction_left, direction_above, corner_left, corner_right;

    /// Returns the entries that say that a pixel stays; the entries of changed pixels are larger by 1.
    HWY_INLINE Steps flags() const {
        const auto zero = number(0);
        const auto corners = hn::Add(one_if(hn::Gt(corner_left, zero)), one_if(hn::Gt(corner_right, zero)));
        const auto changed =
            hn::Add(hn::Add(extent_left, hn::Mul(extent_above, number(3))),
                    hn::Add(hn::Mul(corners, number(9)), hn::IfThenElseZero(hn::Gt(second, zero), number(27))));
        return hn::Add(hn::Add(changed, changed),
                       number(step_models::changed.at(changed_model(0, 0, 0, false, Foretold::differences, 0))));
    }
    /// Returns the entries of the pixels' patterns, or of gray pixels' signs.
    template <int channels>
    HWY_INLINE Steps patterns(Steps pattern) const {
        const auto zero = number(0);
        const auto told_left = hn::IfThenElse(hn::Gt(direction_left, zero), direction_left, corner_left);
        const auto told_above = hn::IfThenElse(hn::Gt(direction_above, zero), direction_above, corner_right);
        const auto whole = hn::Gt(hn::Max(extent_left, extent_above), number(1));
        const auto model =
            hn::Add(hn::Add(told_left, hn::Mul(told_above, number(4))), hn::IfThenElseZero(whole, number(16)));
        constexpr auto& kind = channels == 1 ? step_models::sign : step_models::pattern;
        const auto how = channels == 1 ? one_if(hn::Eq(pattern, number(all_down))) : ranks_of(pattern);
        return hn::Add(how, hn::Add(hn::Mul(model, number(kind.symbols)), number(kind.first)));
    }
};
/// Returns the neighbourhood of rows at (x, y) and makes these rows the ones in `above`.
template <int channels>
HWY_INLINE RowNeighbours neighbours_of(const FoundRows<channels>& found, int x, int y, StepPlanes& planes,
                                       RowsAbove& above) {
    const auto part_left = bytes_at(planes.extent(x, y) - part_side);
    RowNeighbours near;
    near.extent_left = to_the_left<1>(found.extent, part_left);
    near.extent_above = one_above(found.extent, above.extent);
    const auto second_above = rows_at_once == 1 ? above.second_extent : above.extent;
    near.second = hn::Or(to_the_left<2>(found.extent, part_left), second_above);
    near.direction_left = to_the_left<1>(found.direction, bytes_at(planes.direction(x, y) - part_side));
    near.direction_above = one_above(found.direction, above.direction);
    // The pixel after the last one belongs to the next sub-block, which is known only above the current one.
    const auto direction_right = hn::ShiftRightLanes<1>(Rows(), found.direction);
    near.corner_left = one_above(near.direction_left, above.direction_left);
    near.corner_right = one_above(direction_right, above.direction_right);
    for (int channel = 0; channel < channels; ++channel) {
        above.here[channel] = found.of[channel].here;
        above.left[channel] = found.of[channel].left;
    }
    above.second_extent = above.extent;
    above.extent = found.extent;
    above.direction = found.direction;
    above.direction_left = near.direction_left;
    above.direction_right = direction_right;
    return near;
}

/// Calls body(number, of, before) for each channel in the order of coding. `before` holds the steps of the last coded
/// channel that changes, per pixel.
template <int channels, class Body>
HWY_INLINE void for_each_coded_channel(const Around* of, Body&& body) {
    const auto zero = number(0);
    Around before{zero, zero, zero, zero};
    for (int i = 0; i < channels; ++i) {
        const int channel = channels == 1 ? 0 : channel_order[i];
        body(i, of[channel], before);
        before = step_vectors::where(hn::Eq(of[channel].here, zero), before, of[channel]);
    }
}

/// magnitude_context() for each pixel of some rows.
struct ExpectedMagnitudes {
    Steps expected, support;
};
/// Returns the expected magnitudes. The steps `before.here` must be 0 where no channel was coded before.
HWY_INLINE ExpectedMagnitudes expect_magnitudes(const Around& of, const Around& before) {
    const auto zero = number(0);
    const auto down = hn::VecFromMask(Rows(), hn::Lt(of.here, zero));
    const auto steps_before = hn::Sub(hn::Xor(before.here, down), down);
    const auto same = hn::Gt(steps_before, zero);
    const auto without = step_vectors::expectation(Rows(), down, of, before, same);
    const auto foretold = hn::Min(hn::Max(hn::Add(steps_before, without.expected), number(1)), number(max_steps));
    return {hn::IfThenElse(same, foretold, without.expected), without.support};
}
/// Folds magnitudes that differ from the expected ones by `off`. Below `both`, numbers alternate between larger and
/// smaller magnitudes; beyond it, only one direction is left.
HWY_INLINE Steps fold_around(Steps off, Steps both) {
    const auto zero = number(0), twice = hn::Add(off, off), far = hn::Abs(off);
    const auto around_it = hn::IfThenElse(hn::Gt(off, zero), hn::Sub(twice, number(1)), hn::Sub(zero, twice));
    return hn::IfThenElse(hn::Gt(far, both), hn::Add(far, both), around_it);
}

}  // namespace part_rows
}  // namespace framewire::delta::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
