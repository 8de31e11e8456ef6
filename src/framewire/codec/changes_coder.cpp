#include "framewire/codec/changes_coder.hpp"
#include "framewire/codec/coder_tables.hpp"
#include "framewire/codec/models.hpp"
#include "framewire/codec/sub_block_contexts.hpp"
#include "framewire/core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/codec/changes_coder.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "framewire/codec/sub_block_contexts-inl.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

// SIMD vectors of one or two rows of a sub-block: types, loads and stores.

HWY_BEFORE_NAMESPACE();
namespace framewire::codec::HWY_NAMESPACE {
namespace part_rows {

namespace hn = hwy::HWY_NAMESPACE;

/// Tag for vectors with 16-bit lanes: one row of a sub-block, or two if vectors are long enough. The upper row is in
/// the lower half.
using Rows = hn::CappedTag<std::int16_t, 2 * part_side>;
/// Vector with a 16-bit number per pixel of these rows.
using Steps = hn::VFromD<Rows>;
/// Number of rows in a vector.
constexpr int rows_at_once = hn::MaxLanes(Rows()) / part_side;
static_assert(rows_at_once == 1 || rows_at_once == 2);

/// Tags for vectors of a single row, with 16-bit lanes and with bytes.
using Row = hn::CappedTag<std::int16_t, part_side>;
using RowBytes = hn::Rebind<std::uint8_t, Row>;

/// Returns a vector with `value` in each lane.
HWY_INLINE Steps number(int value) { return hn::Set(Rows(), static_cast<std::int16_t>(value)); }
/// Returns 1 in the lanes of `mask`, else 0.
template <class Mask>
HWY_INLINE Steps one_if(Mask mask) {
    return step_vectors::one_if(Rows(), mask);
}
/// Returns a vector of the rows load(0), the upper one, and load(1), the lower one.
template <class Load>
HWY_INLINE Steps rows_of(Load&& load) {
    if constexpr (rows_at_once == 1)
        return load(0);
    else
        return hn::Combine(Rows(), load(1), load(0));
}
/// Loads `rows_at_once` rows of steps from StepPlanes.
HWY_INLINE Steps steps_at(const std::int16_t* at) {
    return rows_of([&](int row) HWY_ATTR { return hn::LoadU(Row(), at + row * std::ptrdiff_t{StepPlanes::stride}); });
}
/// Loads 8 bytes and widens them to 16 bits.
HWY_INLINE hn::VFromD<Row> row_of_bytes(const std::uint8_t* at) {
    return hn::PromoteTo(Row(), hn::LoadU(RowBytes(), at));
}
/// Loads `rows_at_once` rows of bytes from StepPlanes and widens them to 16 bits.
HWY_INLINE Steps bytes_at(const std::uint8_t* at) {
    return rows_of([&](int row) HWY_ATTR { return row_of_bytes(at + row * std::ptrdiff_t{StepPlanes::stride}); });
}
/// Returns row `number` of a vector of rows.
template <int number, class V>
HWY_INLINE hn::VFromD<Row> row_of(V rows) {
    if constexpr (sizeof(V) == sizeof(hn::VFromD<Row>))
        return rows;
    else if constexpr (number == 0)
        return hn::LowerHalf(Row(), rows);
    else
        return hn::UpperHalf(Row(), rows);
}
/// Stores rows of steps to StepPlanes.
HWY_INLINE void store_steps(Steps steps, std::int16_t* at) {
    hn::StoreU(row_of<0>(steps), Row(), at);
    if constexpr (rows_at_once == 2) hn::StoreU(row_of<1>(steps), Row(), at + StepPlanes::stride);
}
/// Narrows rows to bytes and stores them to StepPlanes.
HWY_INLINE void store_bytes(Steps bytes, std::uint8_t* at) {
    hn::StoreU(hn::DemoteTo(RowBytes(), row_of<0>(bytes)), RowBytes(), at);
    if constexpr (rows_at_once == 2)
        hn::StoreU(hn::DemoteTo(RowBytes(), row_of<1>(bytes)), RowBytes(), at + StepPlanes::stride);
}

/// Returns the row above each row of `rows`. `before` holds the rows before `rows`.
template <class V>
HWY_INLINE V one_above(V rows, V before) {
    if constexpr (sizeof(V) == sizeof(hn::VFromD<Row>))
        return before;
    else
        return hn::ConcatLowerUpper(Rows(), rows, before);
}
/// Returns `rows` shifted so that each lane has the pixel `pixels` to its left. `part_left` holds the same rows of the
/// sub-block to the left. Loading the shifted rows from memory instead would stall, because they were just stored.
template <int pixels>
HWY_INLINE Steps to_the_left(Steps rows, Steps part_left) {
    return hn::CombineShiftRightLanes<part_side - pixels>(Rows(), rows, part_left);
}

/// Steps of each pixel of some rows, and of its neighbours.
using Around = step_vectors::Around<Steps>;

/// Calls body(bytes, height, y) for `rows_at_once` rows of a sub-block at a time. Rows of partial sub-blocks are copied
/// and padded with zeros, so `bytes` always points to whole rows.
template <int channels, class Body>
HWY_INLINE void for_some_rows(const PartDifferences& of, Body&& body) {
    std::uint8_t copied[rows_at_once][part_side * channels];
    for (int row = 0; row < of.height; row += rows_at_once) {
        const std::uint8_t* bytes[rows_at_once];
        for (int i = 0; i < rows_at_once; ++i) {
            const bool inside = row + i < of.height;
            const auto* const from = of.first + (row + i) * of.row_stride;
            bytes[i] = inside && of.width == part_side ? from : copied[i];
            if (bytes[i] != copied[i]) continue;
            std::memset(copied[i], 0, sizeof(copied[i]));
            if (inside) std::memcpy(copied[i], from, static_cast<std::size_t>(of.width * channels));
        }
        body(bytes, std::min(rows_at_once, of.height - row), of.y + row);
    }
}

}  // namespace part_rows
}  // namespace framewire::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

// SIMD encoder for the rows of a sub-block, part 1: computes the steps, the neighbourhoods and the expected magnitudes
// of one or two rows at a time.

HWY_BEFORE_NAMESPACE();
namespace framewire::codec::HWY_NAMESPACE {
namespace part_rows {

/// State carried from the rows above to the next rows. It is kept in registers, because a load that partly overlaps
/// recent stores stalls. If vectors have two rows, only the lower one is used, except in `extent`.
struct RowsAbove {
    Steps here[3], left[3];  ///< per channel: steps of the pixels, and of the pixels to their left
    Steps direction;
    Steps direction_left, direction_right;  ///< directions of the pixels to the left and right, 0 if unknown
    Steps extent, second_extent;            ///< E of the pixels, and in `second_extent` of the rows before
};
/// Loads the state for the sub-block at (x, y) from the rows above it, which belong to other sub-blocks.
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

/// Returns the steps of one channel of the rows at (x, y) and of their neighbours.
HWY_INLINE Around steps_around(Steps steps, int channel, int x, int y, StepPlanes& planes, const RowsAbove& above) {
    const auto left = to_the_left<1>(steps, steps_at(planes.steps(channel, x, y) - part_side));
    return {steps, left, one_above(steps, above.here[channel]), one_above(left, above.left[channel])};
}

/// Decides for each lane whether its difference is an increase; `like` is the change of neighbours. SIMD version of
/// signed_steps().
HWY_INLINE hn::Mask<Rows> goes_up(Steps difference, Steps like, Steps threshold) {
    const auto negative = hn::Sub(difference, number(256));
    const auto nearer = hn::Lt(hn::Abs(hn::Sub(difference, like)), hn::Abs(hn::Sub(negative, like)));
    return hn::Or(hn::Not(hn::Gt(hn::Sub(number(0), negative), threshold)),
                  hn::And(hn::Gt(difference, threshold), nearer));
}
/// Returns the signed steps of differences with known directions, or 0 if the difference is 0.
HWY_INLINE Steps steps_of(Steps difference, hn::Mask<Rows> up, Steps threshold) {
    const auto steps =
        hn::IfThenElse(up, hn::Sub(difference, threshold), hn::Add(hn::Sub(difference, number(256)), threshold));
    return hn::IfThenZeroElse(hn::Eq(difference, number(0)), steps);
}

/// Computes the steps of rows and stores them in `planes` and `found`.
///
/// The direction of an ambiguous difference depends on the pixels to the left and above, so pixels would have to be
/// computed one at a time. Instead, all directions are guessed at once. The guesses are right if each agrees with what
/// the steps of its neighbours then imply; otherwise, the pixels are computed in order.
template <int channels>
HWY_INLINE void find_steps(const Steps* differences, int threshold, int x, int y, StepPlanes& planes,
                           const RowsAbove& above, Around* found) {
    constexpr std::ptrdiff_t stride = StepPlanes::stride;
    const Rows rows;
    const auto zero = number(0), limit = number(threshold);
    const auto around = [&](Steps steps, int channel)
                            HWY_ATTR { return steps_around(steps, channel, x, y, planes, above); };
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
        const auto signalled =
            hn::Xor(hn::VecFromMask(rows, up), hn::VecFromMask(rows, goes_up(difference, like, limit)));
        disagree = hn::Or(disagree, hn::IfThenZeroElse(stays, signalled));
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

/// Loads the differences of a sub-block's rows into one vector per channel. `bytes` points to rows of 8 pixels, even if
/// the sub-block is narrower.
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

/// Steps, patterns and traits of rows.
template <int channels>
struct FoundRows {
    Around of[3];
    Steps pattern, count, extent, direction;  ///< values per pixel; `count` is the number of channels that change
};
/// Computes the patterns and traits of rows whose steps are in `found`, and stores the traits in `planes`.
template <int channels>
HWY_INLINE void find_traits(FoundRows<channels>& found, int x, int y, StepPlanes& planes) {
    const auto zero = number(0);
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
}
/// Computes the steps and traits of rows and stores them in `planes`.
template <int channels>
HWY_INLINE FoundRows<channels> find_rows(const std::uint8_t* const* bytes, int threshold, int x, int y,
                                         StepPlanes& planes, const RowsAbove& above) {
    Steps differences[3];
    load_differences<channels>(bytes, differences);
    FoundRows<channels> found;
    find_steps<channels>(differences, threshold, x, y, planes, above, found.of);
    find_traits(found, x, y, planes);
    return found;
}

/// Returns the symbols of patterns. Looks them up in two tables of 16 bytes.
HWY_INLINE Steps ranks_of(Steps pattern) {
    alignas(16) static constexpr auto ranks = [] {
        std::array<std::uint8_t, 32> all{};
        for (std::size_t of = 0; of < pattern_ranks.size(); ++of) all[of] = pattern_ranks[of];
        return all;
    }();
    const hn::Repartition<std::uint8_t, Rows> bytes;
    // An index byte with its highest bit set yields 0. The bit is set in all high bytes, and in the low byte for the
    // table that does not contain the pattern.
    const auto nothing = number(-0x8000);
    const auto low = hn::Or(hn::Or(pattern, nothing), hn::And(hn::ShiftLeft<3>(pattern), number(0x80)));
    const auto high = hn::Or(hn::Sub(pattern, number(16)), nothing);
    const auto look_up = [&](std::size_t from, Steps at) HWY_ATTR {
        return hn::TableLookupBytesOr0(hn::LoadDup128(bytes, &ranks[from]), hn::BitCast(bytes, at));
    };
    return hn::BitCast(Rows(), hn::Or(look_up(0, low), look_up(16, high)));
}

/// Returns the entry of an unchanged pixel without changed neighbours, on a flat prediction.
constexpr int first_flag(Predicted by) { return step_models::changed.at(changed_model(0, 0, 0, false, by, 0)); }

/// Neighbourhood of each pixel of some rows, which determines the models for flags and patterns.
struct RowNeighbours {
    Steps extent_left, extent_above, second;
    Steps direction_left, direction_above, corner_left, corner_right;

    /// Returns the entry of each pixel's flag as if it were unchanged; the entry of a changed pixel is larger by 1.
    /// `first` is the entry of a pixel without changed neighbours, see first_flag().
    HWY_INLINE Steps flags(Steps first) const {
        const auto zero = number(0);
        const auto corners = hn::Add(one_if(hn::Gt(corner_left, zero)), one_if(hn::Gt(corner_right, zero)));
        const auto changed =
            hn::Add(hn::Add(extent_left, hn::Mul(extent_above, number(3))),
                    hn::Add(hn::Mul(corners, number(9)), hn::IfThenElseZero(hn::Gt(second, zero), number(27))));
        return hn::Add(hn::Add(changed, changed), first);
    }
    /// Returns the entry of each pixel's pattern, or of its sign in gray pictures.
    template <int channels>
    HWY_INLINE Steps patterns(Steps pattern) const {
        const auto zero = number(0);
        const auto signalled_left = hn::IfThenElse(hn::Gt(direction_left, zero), direction_left, corner_left);
        const auto signalled_above = hn::IfThenElse(hn::Gt(direction_above, zero), direction_above, corner_right);
        const auto whole = hn::Gt(hn::Max(extent_left, extent_above), number(1));
        const auto model = hn::Add(hn::Add(signalled_left, hn::Mul(signalled_above, number(4))),
                                   hn::IfThenElseZero(whole, number(16)));
        constexpr auto& kind = channels == 1 ? step_models::sign : step_models::pattern;
        const auto how = channels == 1 ? one_if(hn::Eq(pattern, number(all_down))) : ranks_of(pattern);
        return hn::Add(how, hn::Add(hn::Mul(model, number(kind.symbols)), number(kind.first)));
    }
};
/// Returns the neighbourhood of the rows at (x, y), and replaces the state in `above` with that of these rows.
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
    // The pixel to the right of the last one belongs to the next sub-block, whose pixels are only known above the
    // current sub-block.
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

/// Calls body(number, of, before) for each channel in coding order. For each pixel, `before` has the steps of the
/// previously coded channel that changes.
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

/// Result of magnitude_context() for each pixel of some rows.
struct ExpectedMagnitudes {
    Steps expected, support;
};
/// Returns the expected magnitudes. `before.here` must be 0 for pixels without a previously coded channel that changes.
HWY_INLINE ExpectedMagnitudes expect_magnitudes(const Around& of, const Around& before) {
    const auto zero = number(0);
    const auto down = hn::VecFromMask(Rows(), hn::Lt(of.here, zero));
    const auto steps_before = hn::Sub(hn::Xor(before.here, down), down);
    const auto same = hn::Gt(steps_before, zero);
    const auto without = step_vectors::expectation(Rows(), down, of, before, same);
    const auto predicted = hn::Min(hn::Max(hn::Add(steps_before, without.expected), number(1)), number(max_steps));
    return {hn::IfThenElse(same, predicted, without.expected), without.support};
}
/// Folds magnitudes that differ from the expected ones by `off`. For differences up to `both`, the numbers alternate
/// between larger and smaller magnitudes; beyond, only one direction is possible.
HWY_INLINE Steps fold_around(Steps off, Steps both) {
    const auto zero = number(0), twice = hn::Add(off, off), far = hn::Abs(off);
    const auto around_it = hn::IfThenElse(hn::Gt(off, zero), hn::Sub(twice, number(1)), hn::Sub(zero, twice));
    return hn::IfThenElse(hn::Gt(far, both), hn::Add(far, both), around_it);
}

}  // namespace part_rows
}  // namespace framewire::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

// SIMD encoder for the sub-blocks of change blocks, and for quantized sub-blocks of predictions. Turns the results of
// find_rows() and neighbours_of() into symbols, transposes them from one vector per symbol kind to pixel order, and
// compacts them.

// Shared by all SIMD targets. The guard prevents one definition per target.
#ifndef FRAMEWIRE_DELTA_PART_ENTRIES_SHARED
#define FRAMEWIRE_DELTA_PART_ENTRIES_SHARED

namespace framewire::codec::part_entries_shared {

/// Shuffles that move the 16-bit lanes of a set to the front. The index is a bit set of the eight lanes; an entry has
/// the byte numbers of the lanes in the set. The remaining bytes are unspecified.
inline constexpr auto lane_bytes = [] {
    std::array<std::array<std::uint8_t, 16>, 256> all{};
    for (std::size_t set = 0; set < all.size(); ++set) {
        std::size_t next = 0;
        for (std::size_t lane = 0; lane < 8; ++lane)
            for (std::size_t byte = 0; byte < 2 && (set >> lane & 1); ++byte)
                all[set][next++] = static_cast<std::uint8_t>(2 * lane + byte);
    }
    return all;
}();

}  // namespace framewire::codec::part_entries_shared

#endif

HWY_BEFORE_NAMESPACE();
namespace framewire::codec::HWY_NAMESPACE {
namespace part_rows {
namespace {

/// Entries of some rows, as one vector per kind of entry in the order within a pixel: flag, pattern, and for each
/// channel the magnitude and its raw bits. 0 marks an absent entry.
template <int channels>
struct RowEntries {
    static constexpr int each = 2 + 2 * channels;
    Steps of[each];

    /// Reorders the entries so that those of a pixel are adjacent: interleaves 16-bit lanes into pairs, pairs into
    /// fours, and fours into eights.
    HWY_INLINE void by_pixel(Steps (&pixels)[each]) const {
        const Rows rows;
        const auto low = [&](int i) HWY_ATTR { return hn::InterleaveLower(rows, of[i], of[i + 1]); };
        const auto high = [&](int i) HWY_ATTR { return hn::InterleaveUpper(rows, of[i], of[i + 1]); };
        if constexpr (channels == 1) {
            join<std::int32_t>(low(0), low(2), pixels);
            join<std::int32_t>(high(0), high(2), pixels + 2);
        } else {
            Steps first[4], second[4];
            join<std::int32_t>(low(0), low(2), first);
            join<std::int32_t>(high(0), high(2), first + 2);
            join<std::int32_t>(low(4), low(6), second);
            join<std::int32_t>(high(4), high(6), second + 2);
            for (int i = 0; i < 4; ++i) join<std::int64_t>(first[i], second[i], pixels + 2 * i);
        }
    }

private:
    template <class Lane>
    static HWY_INLINE void join(Steps a, Steps b, Steps* to) {
        const hn::Repartition<Lane, Rows> d;
        to[0] = hn::BitCast(Rows(), hn::InterleaveLower(d, hn::BitCast(d, a), hn::BitCast(d, b)));
        to[1] = hn::BitCast(Rows(), hn::InterleaveUpper(d, hn::BitCast(d, a), hn::BitCast(d, b)));
    }
};

/// Appends the nonzero entries of a row. Branchless, because their positions are unpredictable.
HWY_INLINE std::uint16_t* add_entries(hn::VFromD<Row> row, std::uint16_t* entry) {
    const hn::RebindToUnsigned<Row> d;
    const auto entries = hn::BitCast(d, row);
    const auto there = hn::Ne(entries, hn::Zero(d));
    std::uint8_t set[8] = {};
    hn::StoreMaskBits(d, there, set);
#if HWY_TARGET <= HWY_AVX3_DL
    hn::StoreU(hn::Compress(entries, there), d, entry);
#else
    // On targets without a compress instruction, hn::Compress() is slow, because it copies its table to the stack.
    const hn::Repartition<std::uint8_t, decltype(d)> bytes;
    const auto order = hn::LoadU(bytes, part_entries_shared::lane_bytes[set[0]].data());
    hn::StoreU(hn::BitCast(d, hn::TableLookupBytes(hn::BitCast(bytes, entries), order)), d, entry);
#endif
    return entry + std::popcount(set[0]);
}

/// Symbols of folded magnitudes, and entries of their raw bits, which are 0 if there are none. SIMD version of Token.
struct Tokens {
    Steps symbol, bits;
};
/// Returns the tokens of folded numbers below 512. Numbers of 64 and more use the same tables with an eighth of their
/// value.
HWY_INLINE Tokens tokens_of(Steps folded) {
    // Tables indexed by folded / 4: the symbol, and a quarter of the difference between the folded number and the entry
    // of its raw bits (without step_models::trained_symbols).
    alignas(16) static constexpr std::array<std::uint8_t, 16> symbols = {0,  0,  8,  9,  10, 10, 11, 11,
                                                                         12, 12, 12, 12, 13, 13, 13, 13};
    alignas(16) static constexpr std::array<std::uint8_t, 16> begins = {0, 0, 1, 2, 2, 2, 4, 4, 4, 4, 4, 4, 8, 8, 8, 8};
    static_assert(token_of(63).symbol == 13 && token_of(64).symbol == 14 && token_of(8 * 63).symbol == 19);
    const hn::Repartition<std::uint8_t, Rows> bytes;
    const auto large = hn::Gt(folded, number(63));
    const auto place =
        hn::Or(hn::IfThenElse(large, hn::ShiftRight<5>(folded), hn::ShiftRight<2>(folded)), number(-0x8000));
    const auto look_up = [&](const std::array<std::uint8_t, 16>& table) HWY_ATTR {
        return hn::BitCast(Rows(),
                           hn::TableLookupBytesOr0(hn::LoadDup128(bytes, table.data()), hn::BitCast(bytes, place)));
    };
    const auto symbol = hn::Add(look_up(symbols), hn::IfThenElseZero(large, number(6)));
    const auto begin = look_up(begins);
    const auto less = hn::IfThenElse(large, hn::ShiftLeft<5>(begin), hn::ShiftLeft<2>(begin));
    const auto follow = hn::Gt(folded, number(7));
    return {hn::IfThenElse(follow, symbol, folded),
            hn::IfThenElseZero(follow, hn::Add(hn::Sub(folded, less), number(step_models::trained_symbols)))};
}

/// Returns the entries of magnitudes and of their raw bits. SIMD version of magnitude_context() and fold().
HWY_INLINE Tokens find_magnitudes(const Around& of, const Around& before, bool first, bool fine) {
    const auto [expected, support] = expect_magnitudes(of, before);
    const auto size = hn::Add(one_if(hn::Gt(expected, number(1))), one_if(hn::Gt(expected, number(11))));
    const auto model = hn::Add(hn::Add(size, hn::Mul(support, number(3))), number((first ? 30 : 0) + (fine ? 60 : 0)));
    const auto magnitude =
        hn::Add(hn::Mul(model, number(step_models::magnitude.symbols)), number(step_models::magnitude.first));
    // A magnitude below the expected one differs from it by at most `expected - 1`, so folding needs no bound on that
    // side.
    const auto tokens = tokens_of(fold_around(hn::Sub(hn::Abs(of.here), expected), hn::Sub(expected, number(1))));
    const auto stays = hn::Eq(of.here, number(0));
    return {hn::IfThenZeroElse(stays, hn::Add(magnitude, tokens.symbol)), hn::IfThenZeroElse(stays, tokens.bits)};
}

/// Appends the flags of a row in which no pixel changes.
HWY_INLINE std::uint16_t* add_flags(hn::VFromD<Row> flags, int width, std::uint16_t* entry) {
    const hn::RebindToUnsigned<Row> d;
    hn::StoreU(hn::BitCast(d, flags), d, entry);
    return entry + width;
}
/// Appends the entries of row `number` of some rows. `pixels` is the result of RowEntries::by_pixel(); `count` is the
/// number of changed channels per pixel.
template <int number, int channels>
HWY_INLINE std::uint16_t* add_row(Steps count, Steps flags, const Steps* pixels, int width, std::uint16_t* entry) {
    if (hn::AllTrue(Row(), hn::Eq(row_of<number>(count), hn::Zero(Row()))))
        return add_flags(row_of<number>(flags), width, entry);
    for (int i = 0; i < RowEntries<channels>::each; ++i) entry = add_entries(row_of<number>(pixels[i]), entry);
    return entry;
}

/// Appends the entries of `height` rows, at most `rows_at_once`, of `width` pixels. `flags` is the result of
/// RowNeighbours::flags(); `fine` selects the models for magnitudes.
template <int channels>
HWY_INLINE std::uint16_t* add_found_rows(const FoundRows<channels>& found, const RowNeighbours& near, Steps flags,
                                         bool fine, int width, int height, std::uint16_t* entry) {
    const Rows rows;
    const auto changes = hn::Gt(found.count, number(0));
    if (hn::AllFalse(rows, changes)) {
        entry = add_flags(row_of<0>(flags), width, entry);
        return rows_at_once == 2 && height == 2 ? add_flags(row_of<1>(flags), width, entry) : entry;
    }
    RowEntries<channels> entries;
    entries.of[0] = hn::Add(flags, one_if(changes));
    entries.of[1] = hn::IfThenElseZero(changes, near.template patterns<channels>(found.pattern));
    for_each_coded_channel<channels>(found.of, [&](int i, const Around& of, const Around& before) HWY_ATTR {
        const auto tokens = find_magnitudes(of, before, i == 0, fine);
        entries.of[2 + 2 * i] = tokens.symbol;
        entries.of[3 + 2 * i] = tokens.bits;
    });
    if (width < part_side) {
        // In partial sub-blocks, remove the flags of pixels outside. These have no other entries, because their
        // differences are 0.
        HWY_ALIGN std::int16_t inside[part_side] = {};
        std::fill_n(inside, width, std::int16_t{-1});
        entries.of[0] = hn::And(entries.of[0], hn::LoadDup128(rows, inside));
    }
    Steps pixels[RowEntries<channels>::each];
    entries.by_pixel(pixels);
    entry = add_row<0, channels>(found.count, flags, pixels, width, entry);
    return rows_at_once == 2 && height == 2 ? add_row<1, channels>(found.count, flags, pixels, width, entry) : entry;
}

template <int channels>
std::uint16_t* add_rows(const PartDifferences& of, StepPlanes& planes, std::uint16_t* entry) {
    auto above = rows_above_part<channels>(of.x, of.y, planes);
    for_some_rows<channels>(of, [&](const std::uint8_t* const* bytes, int height, int y) HWY_ATTR {
        const auto found = find_rows<channels>(bytes, of.threshold, of.x, y, planes, above);
        const auto near = neighbours_of(found, of.x, y, planes, above);
        const auto flags = near.flags(number(first_flag(Predicted::differences)));
        entry = add_found_rows<channels>(found, near, flags, true, of.width, height, entry);
    });
    return entry;
}

/// Loads a row of steps into one vector per channel.
template <int channels>
HWY_INLINE void load_steps(const std::int16_t* steps, hn::VFromD<Row> (&to)[3]) {
    if constexpr (channels == 1)
        to[0] = hn::LoadU(Row(), steps);
    else
        hn::LoadInterleaved3(Row(), steps, to[0], to[1], to[2]);
}
/// Loads a row of slopes, those of slope_channel().
template <int channels>
HWY_INLINE hn::VFromD<Row> load_slopes(const std::uint8_t* slopes) {
    if constexpr (channels == 1) return row_of_bytes(slopes);
    hn::VFromD<RowBytes> of[3];
    hn::LoadInterleaved3(RowBytes(), slopes, of[0], of[1], of[2]);
    return hn::PromoteTo(Row(), of[slope_channel(3)]);
}

/// Appends the entries of a quantized sub-block, and stores its steps and traits in `planes`.
template <int channels>
std::uint16_t* add_quantized_rows(const QuantizedPart& part, const QuantizedPlace& at, StepPlanes& planes,
                                  std::uint16_t* entry) {
    auto above = rows_above_part<channels>(at.left, at.top, planes);
    const auto slope_models =
        number(2 * (changed_model(0, 0, 0, false, at.by, 1) - changed_model(0, 0, 0, false, at.by, 0)));
    for (int row = 0; row < at.height; row += rows_at_once) {
        const int x = at.left, y = at.top + row;
        hn::VFromD<Row> steps[rows_at_once][3], slopes[rows_at_once];
        for (int i = 0; i < rows_at_once; ++i) {
            // An odd number of rows is followed by a row without steps.
            const auto from = static_cast<std::size_t>(std::min(row + i, at.height - 1) * part_row);
            load_steps<channels>(&part.steps[from], steps[i]);
            slopes[i] = load_slopes<channels>(&part.slopes[from]);
            if (row + i >= at.height)
                for (auto& of_channel : steps[i]) of_channel = hn::Zero(Row());
        }
        FoundRows<channels> found;
        for (int channel = 0; channel < channels; ++channel) {
            const auto of_rows = rows_of([&](int i) HWY_ATTR { return steps[i][channel]; });
            store_steps(of_rows, planes.steps(channel, x, y));
            found.of[channel] = steps_around(of_rows, channel, x, y, planes, above);
        }
        find_traits(found, x, y, planes);
        const auto near = neighbours_of(found, x, y, planes, above);
        const auto steep = hn::Mul(rows_of([&](int i) HWY_ATTR { return slopes[i]; }), slope_models);
        const auto flags = near.flags(hn::Add(steep, number(first_flag(at.by))));
        entry = add_found_rows<channels>(found, near, flags, at.fine, at.width, std::min(rows_at_once, at.height - row),
                                         entry);
    }
    return entry;
}

}  // namespace
}  // namespace part_rows

std::uint16_t* add_part(const PartDifferences& of, StepPlanes& planes, std::uint16_t* entry) {
    return of.channels == 1 ? part_rows::add_rows<1>(of, planes, entry) : part_rows::add_rows<3>(of, planes, entry);
}

std::uint16_t* add_quantized(const QuantizedPart& part, const QuantizedPlace& at, int channels, StepPlanes& planes,
                             std::uint16_t* entry) {
    return channels == 1 ? part_rows::add_quantized_rows<1>(part, at, planes, entry)
                         : part_rows::add_quantized_rows<3>(part, at, planes, entry);
}

}  // namespace framewire::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire::codec {

HWY_EXPORT(add_part);
HWY_EXPORT(add_quantized);

void add_quantized_entries(const QuantizedPart& part, const QuantizedPlace& at, int channels, StepPlanes& planes,
                           Symbols& symbols) {
    auto* const entry = symbols.room(most_part_entries(channels));
    symbols.take(HWY_DYNAMIC_DISPATCH(add_quantized)(part, at, channels, planes, entry));
}

void add_part_entries(HostView<const std::uint8_t> differences, const BlockPlace& block, int threshold, int left,
                      int top, StepPlanes& planes, Symbols& symbols) {
    auto* const entry = symbols.room(most_part_entries(differences.shape().channels));
    symbols.take(HWY_DYNAMIC_DISPATCH(add_part)(part_of(differences, block, threshold, left, top), planes, entry));
}

}  // namespace framewire::codec

#endif

// SIMD encoder for the sub-blocks of blocks in runs. It starts from the results of find_rows() and neighbours_of(),
// codes each row as one symbol if possible, and folds and appends the magnitudes per channel.

// Shared by all SIMD targets. The guard prevents one definition per target.
#ifndef FRAMEWIRE_DELTA_PART_RUNS_SHARED
#define FRAMEWIRE_DELTA_PART_RUNS_SHARED

namespace framewire::codec::part_runs_shared {

/// Shuffles that move the bytes of a set to the front. The index is a bit set of the eight lanes; an entry has the
/// numbers of the lanes in the set, in order. The remaining bytes are unspecified.
inline constexpr auto set_bytes = [] {
    std::array<std::array<std::uint8_t, 8>, 256> all{};
    for (std::size_t set = 0; set < all.size(); ++set) {
        std::size_t next = 0;
        for (std::size_t lane = 0; lane < 8; ++lane)
            if (set >> lane & 1) all[set][next++] = static_cast<std::uint8_t>(lane);
    }
    return all;
}();

}  // namespace framewire::codec::part_runs_shared

#endif

HWY_BEFORE_NAMESPACE();
namespace framewire::codec::HWY_NAMESPACE {
namespace part_rows {
namespace {

/// SIMD version of codec::fold_within().
HWY_INLINE Steps fold_within(Steps here, Steps expected) {
    const auto both = hn::Min(hn::Sub(expected, number(1)), hn::Sub(number(max_steps), expected));
    return fold_around(hn::Sub(hn::Abs(here), expected), both);
}

/// Output positions while a sub-block is coded.
struct RunsUnderWay {
    RunsPart& part;
    RunRow above;  ///< the previous row
    std::uint16_t* entry;
    std::uint8_t* folded[3];  ///< per channel in coding order: address of the next folded magnitude
    hn::VFromD<Row> off[3];   ///< per channel: sums of differences from the expected magnitudes, per lane
};

/// Appends the bytes of a row whose lanes are in `set`.
HWY_INLINE std::uint8_t* add_bytes(hn::VFromD<Row> row, unsigned set, std::uint8_t* to) {
    const RowBytes d;
    const auto bytes = hn::DemoteTo(d, row);
    if (set == 0xff) {
        hn::StoreU(bytes, d, to);
        return to + part_side;
    }
    const auto order = hn::LoadU(d, part_runs_shared::set_bytes[set].data());
    hn::StoreU(hn::TableLookupBytes(bytes, order), d, to);
    return to + std::popcount(set);
}

/// Flags and patterns of the pixels of some rows, for mixed rows.
struct MixedEntries {
    alignas(32) std::uint16_t flags[rows_at_once * part_side], patterns[rows_at_once * part_side];
};

/// Appends the symbols of one row. Bit x of `changed` is set if pixel x changes. `flags` and `patterns` are read only
/// if the row is mixed.
HWY_INLINE void add_run_row(const RunRow& row, unsigned changed, int width, int direction_left,
                            const std::uint16_t* flags, const std::uint16_t* patterns, RunsUnderWay& to) {
    *to.entry++ = static_cast<std::uint16_t>(step_models::row.at(RunRow::model(to.above, direction_left)) +
                                             static_cast<int>(row.kind));
    if (RunRow::has_edge(row.kind))
        *to.entry++ = static_cast<std::uint16_t>(step_models::edge.at(row.edge_model(to.above)) + row.edge);
    to.above = row;
    const int count = std::popcount(changed);
    to.part.pixels += count;
    if (row.kind != RowKind::mixed) {
        to.part.pixels_in_runs += count;
        return;
    }
    for (int x = 0; x < width; ++x) {
        *to.entry++ = flags[x];
        if (changed >> x & 1) *to.entry++ = patterns[x];
    }
}

/// Appends the symbols of `height` rows of `width` pixels, and their magnitudes.
template <int channels>
HWY_INLINE void add_some_run_rows(const std::uint8_t* const* bytes, int width, int height, int threshold, int x, int y,
                                  StepPlanes& planes, RowsAbove& above, RunsUnderWay& to) {
    const Rows rows;
    const auto zero = number(0);
    const auto found = find_rows<channels>(bytes, threshold, x, y, planes, above);
    const auto near = neighbours_of(found, x, y, planes, above);
    const auto changes = hn::Gt(found.count, zero);
    const auto bits_of = [&](hn::Mask<Rows> mask) HWY_ATTR {
        std::uint8_t bits[8] = {};
        hn::StoreMaskBits(rows, mask, bits);
        return bits[0] | static_cast<unsigned>(bits[1]) << part_side;
    };
    // Bit sets of the pixels that change, of those whose channels all go up, and of those whose channels all go down.
    const auto changed = bits_of(changes), up = bits_of(hn::Eq(found.pattern, number(all_up))),
               down = bits_of(hn::Eq(found.pattern, number(all_down)));
    RunRow kinds[rows_at_once];
    bool any_mixed = false;
    for (int row = 0; row < height; ++row) {
        const auto of_row = [&](unsigned bits) { return bits >> (row * part_side) & 0xff; };
        kinds[row] = run_row(of_row(changed), of_row(up), of_row(down), width);
        any_mixed |= kinds[row].kind == RowKind::mixed;
    }
    // Flags and patterns are computed only if some row needs them.
    MixedEntries mixed;
    if (any_mixed) {
        const hn::RebindToUnsigned<Rows> d;
        const auto flags = near.flags(number(first_flag(Predicted::differences)));
        hn::Store(hn::BitCast(d, hn::Add(flags, one_if(changes))), d, mixed.flags);
        hn::Store(hn::BitCast(d, near.template patterns<channels>(found.pattern)), d, mixed.patterns);
    }
    for (int row = 0; row < height; ++row)
        add_run_row(kinds[row], changed >> (row * part_side) & 0xff, width, planes.direction(x, y + row)[-1],
                    mixed.flags + row * part_side, mixed.patterns + row * part_side, to);
    if (!changed) return;
    for_each_coded_channel<channels>(found.of, [&](int i, const Around& of, const Around& before) HWY_ATTR {
        const auto stays = hn::Eq(of.here, zero);
        const auto folded = hn::IfThenZeroElse(stays, fold_within(of.here, expect_magnitudes(of, before).expected));
        const auto off = hn::ShiftRight<1>(hn::Add(folded, number(1)));
        const auto there = bits_of(hn::Not(stays));
        to.folded[i] = add_bytes(row_of<0>(folded), there & 0xff, to.folded[i]);
        to.off[i] = hn::Add(to.off[i], row_of<0>(off));
        if constexpr (rows_at_once == 2) {
            to.folded[i] = add_bytes(row_of<1>(folded), there >> part_side, to.folded[i]);
            to.off[i] = hn::Add(to.off[i], row_of<1>(off));
        }
    });
}

template <int channels>
std::uint16_t* add_run_rows(const PartDifferences& of, StepPlanes& planes, RunsPart& part, std::uint16_t* entry) {
    auto above = rows_above_part<channels>(of.x, of.y, planes);
    RunsUnderWay to{part, part.above, entry, {}, {hn::Zero(Row()), hn::Zero(Row()), hn::Zero(Row())}};
    for (std::size_t i = 0; i < channels; ++i) to.folded[i] = part.channels[i].folded;
    for_some_rows<channels>(of, [&](const std::uint8_t* const* bytes, int height, int y) HWY_ATTR {
        add_some_run_rows<channels>(bytes, of.width, height, of.threshold, of.x, y, planes, above, to);
    });
    part.above = to.above;
    for (std::size_t i = 0; i < channels; ++i) {
        auto& channel = part.channels[i];
        channel.count = static_cast<int>(to.folded[i] - channel.folded);
        // At most 64 * 127, which fits into 16 bits.
        channel.off = static_cast<std::uint32_t>(hn::GetLane(hn::SumOfLanes(Row(), to.off[i])));
    }
    return to.entry;
}

}  // namespace
}  // namespace part_rows

std::uint16_t* add_run_part(const PartDifferences& of, StepPlanes& planes, RunsPart& part, std::uint16_t* entry) {
    return of.channels == 1 ? part_rows::add_run_rows<1>(of, planes, part, entry)
                            : part_rows::add_run_rows<3>(of, planes, part, entry);
}

}  // namespace framewire::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire::codec {

HWY_EXPORT(add_run_part);

void add_part_runs(HostView<const std::uint8_t> differences, const BlockPlace& block, int threshold, int left, int top,
                   StepPlanes& planes, RunsPart& part, Symbols& symbols) {
    auto* const entry = symbols.room(most_part_entries(differences.shape().channels));
    symbols.take(
        HWY_DYNAMIC_DISPATCH(add_run_part)(part_of(differences, block, threshold, left, top), planes, part, entry));
}

}  // namespace framewire::codec

#endif

#if HWY_ONCE

// Encoder for blocks of changes. Each block is coded in one of two forms:
//
//     "changes"            pixel by pixel
//     "changes in runs"    rows of sub-blocks, magnitudes last: fewer dependent symbols, but 32 more states
//
// A cheap test on the counts decides whether to try runs. If too few pixels of the block turn out to be in runs, it is
// coded again pixel by pixel.

namespace framewire::codec {
namespace {

// Adds the mode of each sub-block to `symbols` in coding order and then calls body(column, row, any), which must add
// its contents. `any`: whether the sub-block changes.
template <class Body>
void add_parts_with_modes(const ChangedBlock& of, Symbols& symbols, Body&& body) {
    CodedParts modes;
    for (int row = 0; row < of.place.part_rows(); ++row)
        for (int column = 0; column < of.place.part_columns(); ++column) {
            const bool any = (of.parts & part_bit(column, row)) != 0;
            const auto mode = any ? PartMode::changes : PartMode::stays;
            symbols.add(modes.mode_model(column, row) + static_cast<int>(mode));
            modes.set(column, row, mode);
            body(column, row, any);
        }
}

}  // namespace

void ChangesEncoder::encode(HostView<std::uint8_t> differences, std::span<const ChangedBlock> blocks, int threshold,
                            std::vector<std::uint8_t>& out, std::span<std::size_t> sizes) {
    const int channels = differences.shape().channels;
    // may_be_runs() is a cheap test on the counts. add_runs() makes the final decision; if it returns false, the block
    // is coded again without runs.
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        const auto& [place, parts, samples] = blocks[i];
        symbols_[i].clear();
        if (!may_be_runs(samples, std::popcount(parts), channels) ||
            !add_runs(differences, blocks[i], threshold, symbols_[i]))
            add_block(differences, blocks[i], threshold, symbols_[i]);
        for_each_of(parts, place, [&](int left, int top, int, int) { planes_.clear_part(left, top); });
        clear_parts(differences, place, parts);
    }
    Symbols::write(std::span(symbols_).first(blocks.size()), out, sizes);
}

void ChangesEncoder::add_block(HostView<const std::uint8_t> differences, const ChangedBlock& of, int threshold,
                               Symbols& symbols) {
    add_parts_with_modes(of, symbols, [&](int column, int row, bool any) {
        if (!any) return;
        add_part_entries(differences, of.place, threshold, column * part_side, row * part_side, planes_, symbols);
    });
}

bool ChangesEncoder::add_runs(HostView<const std::uint8_t> differences, const ChangedBlock& of, int threshold,
                              Symbols& symbols) {
    const int channels = differences.shape().channels;
    std::array<RunRow, parts_per_row> above{};
    std::array<int, 3> classes{};  // class of the last sub-block with changes per channel, in coding order
    auto& residuals = symbols.residuals();
    runs_part_.pixels = runs_part_.pixels_in_runs = 0;
    add_parts_with_modes(of, symbols, [&](int column, int row, bool any) {
        auto& row_above = above[static_cast<std::size_t>(column)];
        if (!any) {
            row_above = {};
            return;
        }
        runs_part_.above = row_above;
        add_part_runs(differences, of.place, threshold, column * part_side, row * part_side, planes_, runs_part_,
                      symbols);
        row_above = runs_part_.above;
        for (int i = 0; i < channels; ++i) {
            const auto& [folded, count, off] = runs_part_.channels[static_cast<std::size_t>(i)];
            if (count == 0) continue;
            auto& part_class = classes[static_cast<std::size_t>(i)];
            const int model = part_class_model(part_class, i == 0);
            part_class = residual_class(off, count);
            residuals.add({folded, static_cast<std::size_t>(count)}, part_class);
            symbols.add(step_models::part_class.at(model) + part_class);
        }
    });
    // If too few pixels are in runs, undo everything, so that the block can be coded pixel by pixel.
    if (are_runs(runs_part_.pixels_in_runs, runs_part_.pixels)) return true;
    for_each_of(of.parts, of.place, [&](int left, int top, int, int) { planes_.clear_part(left, top); });
    symbols.clear();
    return false;
}

}  // namespace framewire::codec

#endif  // HWY_ONCE
