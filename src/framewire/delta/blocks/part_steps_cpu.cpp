#include "framewire/core/simd/simd.hpp"
#include "framewire/delta/blocks/part_steps.hpp"
#include "framewire/delta/blocks/step_contexts.hpp"
#include "framewire/delta/blocks/step_pixels.hpp"
#include "framewire/delta/entropy/models.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/delta/blocks/part_steps_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "framewire/delta/blocks/step_vectors-inl.hpp"

#include <algorithm>
#include <array>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace framewire::delta::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Row = hn::CappedTag<std::int16_t, part_side>;
using RowBytes = hn::Rebind<std::uint8_t, Row>;
using Steps = hn::VFromD<Row>;

HWY_INLINE Steps number(int value) { return hn::Set(Row(), static_cast<std::int16_t>(value)); }
template <class Mask>
HWY_INLINE Steps one_if(Mask mask) {
    return step_vectors::one_if(Row(), mask);
}
HWY_INLINE Steps bytes_at(const std::uint8_t* at) { return hn::PromoteTo(Row(), hn::LoadU(RowBytes(), at)); }

/// A row and the one pixel before it, less its last. Loading that from where the row was just stored would wait long.
HWY_INLINE Steps moved_on(Steps row, int before) {
    return hn::InsertLane(hn::ShiftLeftLanes<1>(Row(), row), 0, static_cast<std::int16_t>(before));
}

using Around = step_vectors::Around<Steps>;

/// What the row above tells. In vectors: loading what was just stored, from elsewhere, would wait long.
struct RowAbove {
    Steps here[3], left[3];  ///< steps of each channel, and of the pixels to their left
    Steps extent, direction;
    Steps direction_left, direction_right;  ///< of the pixels to their left and right, as far as those are known
    Steps second_extent;                    ///< of the row above that
};
/// Of the row above a part, of other parts.
template <int channels>
HWY_INLINE RowAbove row_above_part(int x, int y, StepPlanes& planes) {
    constexpr std::ptrdiff_t stride = StepPlanes::stride;
    RowAbove above;
    for (int channel = 0; channel < channels; ++channel) {
        const auto* const at = planes.steps(channel, x, y) - stride;
        above.here[channel] = hn::LoadU(Row(), at);
        above.left[channel] = hn::LoadU(Row(), at - 1);
    }
    const auto* const extents = planes.extent(x, y) - stride;
    const auto* const directions = planes.direction(x, y) - stride;
    above.extent = bytes_at(extents);
    above.second_extent = bytes_at(extents - stride);
    above.direction = bytes_at(directions);
    above.direction_left = bytes_at(directions - 1);
    above.direction_right = bytes_at(directions + 1);
    return above;
}

/// What a row's symbols are as entries of class Symbols, in the order in which a pixel has them: whether it changes,
/// how, and for each channel a magnitude and its bits. 0 where there is none.
template <int channels>
struct RowEntries {
    static constexpr int each = 2 + 2 * channels;
    Steps of[each];
};

/// Appends them, pixel by pixel, without those that are 0. Which there are nobody can guess, so there are no branches.
template <int channels>
HWY_INLINE std::uint16_t* add_entries(const RowEntries<channels>& row, int pixels, std::uint16_t* entry) {
    const hn::RebindToUnsigned<Row> d16;
    const hn::Repartition<std::uint32_t, Row> d32;
    const hn::Repartition<std::uint64_t, Row> d64;
    const auto add = [&](auto v) HWY_ATTR {
        const auto entries = hn::BitCast(d16, v);
        const auto there = hn::Ne(entries, hn::Zero(d16));
        hn::StoreU(hn::Compress(entries, there), d16, entry);
        entry += hn::CountTrue(d16, there);
    };
    const auto pairs_low = [&](int i) HWY_ATTR {
        return hn::BitCast(d32, hn::InterleaveLower(Row(), row.of[i], row.of[i + 1]));
    };
    const auto pairs_high = [&](int i) HWY_ATTR {
        return hn::BitCast(d32, hn::InterleaveUpper(Row(), row.of[i], row.of[i + 1]));
    };
    if constexpr (channels == 1) {
        add(hn::InterleaveLower(d32, pairs_low(0), pairs_low(2)));
        add(hn::InterleaveUpper(d32, pairs_low(0), pairs_low(2)));
        add(hn::InterleaveLower(d32, pairs_high(0), pairs_high(2)));
        add(hn::InterleaveUpper(d32, pairs_high(0), pairs_high(2)));
    } else {
        const auto add_two = [&](auto first_half, auto second_half) HWY_ATTR {
            add(hn::InterleaveLower(d64, hn::BitCast(d64, first_half), hn::BitCast(d64, second_half)));
            add(hn::InterleaveUpper(d64, hn::BitCast(d64, first_half), hn::BitCast(d64, second_half)));
        };
        const auto add_four = [&](auto pairs) HWY_ATTR {
            add_two(hn::InterleaveLower(d32, pairs(0), pairs(2)), hn::InterleaveLower(d32, pairs(4), pairs(6)));
            add_two(hn::InterleaveUpper(d32, pairs(0), pairs(2)), hn::InterleaveUpper(d32, pairs(4), pairs(6)));
        };
        add_four(pairs_low);
        if (pixels > 4) add_four(pairs_high);
    }
    return entry;
}

/// The places of patterns by their frequency.
HWY_INLINE Steps ranks_of(Steps pattern) {
    alignas(16) static constexpr auto ranks = [] {
        std::array<std::uint8_t, 32> all{};
        for (std::size_t of = 0; of < pattern_ranks.size(); ++of) all[of] = pattern_ranks[of];
        return all;
    }();
    const hn::Repartition<std::uint8_t, Row> bytes;
    // Indices with their highest bit set bring 0: so do all higher bytes, and each number in one of the two tables.
    const auto nothing = number(-0x8000);
    const auto low = hn::Or(hn::Or(pattern, nothing), hn::And(hn::ShiftLeft<3>(pattern), number(0x80)));
    const auto high = hn::Or(hn::Sub(pattern, number(16)), nothing);
    const auto look_up = [&](std::size_t from, Steps at) HWY_ATTR {
        return hn::TableLookupBytesOr0(hn::Load(bytes, &ranks[from]), hn::BitCast(bytes, at));
    };
    return hn::BitCast(Row(), hn::Or(look_up(0, low), look_up(16, high)));
}

/// Folded magnitudes as symbols, and as entries the bits that follow; 0 where there are none.
struct Tokens {
    Steps symbol, bits;
};
HWY_INLINE Tokens tokens_of(Steps folded) {
    // Of folded / 4: the symbol, and a quarter of what lies between a number and the entry of its bits.
    alignas(16) static constexpr std::array<std::uint8_t, 16> symbols = {0,  0,  8,  9,  10, 10, 11, 11,
                                                                         12, 12, 12, 12, 13, 13, 13, 13};
    alignas(16) static constexpr std::array<std::uint8_t, 16> begins = {0, 0, 1, 2, 2, 2, 4, 4, 4, 4, 4, 4, 8, 8, 8, 8};
    static_assert(token_of(63).symbol == 13 && token_of(64).symbol == 14 && token_of(8 * 63).symbol == 19);
    const hn::Repartition<std::uint8_t, Row> bytes;
    const auto large = hn::Gt(folded, number(63));
    const auto place =
        hn::Or(hn::IfThenElse(large, hn::ShiftRight<5>(folded), hn::ShiftRight<2>(folded)), number(-0x8000));
    const auto look_up = [&](const std::array<std::uint8_t, 16>& table) HWY_ATTR {
        return hn::BitCast(Row(), hn::TableLookupBytesOr0(hn::Load(bytes, table.data()), hn::BitCast(bytes, place)));
    };
    const auto symbol = hn::Add(look_up(symbols), hn::IfThenElseZero(large, number(6)));
    const auto begin = look_up(begins);
    const auto less = hn::IfThenElse(large, hn::ShiftLeft<5>(begin), hn::ShiftLeft<2>(begin));
    const auto follow = hn::Gt(folded, number(7));
    return {hn::IfThenElse(follow, symbol, folded),
            hn::IfThenElseZero(follow, hn::Add(hn::Sub(folded, less), number(step_models::trained_symbols)))};
}

/// magnitude_context() and fold(), of eight pixels, as entries. `before`: of the channel before, with steps of 0 where
/// it does not change.
HWY_INLINE Tokens find_magnitudes(const Around& of, const Around& before, bool first) {
    const auto zero = number(0), one = number(1);
    const auto down = hn::VecFromMask(Row(), hn::Lt(of.here, zero));
    const auto steps_before = hn::Sub(hn::Xor(before.here, down), down);
    const auto same = hn::Gt(steps_before, zero);
    const auto without = step_vectors::expectation(Row(), down, of, before, same);
    const auto foretold = hn::Min(hn::Max(hn::Add(steps_before, without.expected), one), number(max_steps));
    const auto expected = hn::IfThenElse(same, foretold, without.expected);
    const auto size = hn::Add(one_if(hn::Gt(expected, one)), one_if(hn::Gt(expected, number(11))));
    const auto model = hn::Add(hn::Add(size, hn::Mul(without.support, number(3))), number((first ? 30 : 0) + 60));
    const auto magnitude =
        hn::Add(hn::Mul(model, number(step_models::magnitude.symbols)), number(step_models::magnitude.first));

    const auto off = hn::Sub(hn::Abs(of.here), expected), reach = hn::Sub(expected, one), twice = hn::Add(off, off);
    const auto around_it = hn::IfThenElse(hn::Gt(off, zero), hn::Sub(twice, one), hn::Sub(zero, twice));
    const auto tokens = tokens_of(hn::IfThenElse(hn::Gt(off, reach), hn::Add(off, reach), around_it));
    const auto stays = hn::Eq(of.here, zero);
    return {hn::IfThenZeroElse(stays, hn::Add(magnitude, tokens.symbol)), hn::IfThenZeroElse(stays, tokens.bits)};
}

/// Whether differences go up, as far as neighbours that changed by `like` tell.
HWY_INLINE hn::Mask<Row> goes_up(Steps difference, Steps like, Steps threshold) {
    const auto negative = hn::Sub(difference, number(256));
    const auto nearer = hn::Lt(hn::Abs(hn::Sub(difference, like)), hn::Abs(hn::Sub(negative, like)));
    return hn::Or(hn::Not(hn::Gt(hn::Sub(number(0), negative), threshold)),
                  hn::And(hn::Gt(difference, threshold), nearer));
}
HWY_INLINE Steps steps_of(Steps difference, hn::Mask<Row> up, Steps threshold) {
    const auto steps =
        hn::IfThenElse(up, hn::Sub(difference, threshold), hn::Add(hn::Sub(difference, number(256)), threshold));
    return hn::IfThenZeroElse(hn::Eq(difference, number(0)), steps);
}

/// Finds the steps of a row and stores them. Each depends on those to its left, so all are guessed at once, and taken
/// where each agrees with what its neighbours then tell. Else they are found one after the other.
template <int channels>
HWY_INLINE void find_steps(const Steps* differences, int threshold, int x, int y, StepPlanes& planes,
                           const RowAbove& above, Around* found) {
    constexpr std::ptrdiff_t stride = StepPlanes::stride;
    const Row row;
    const auto zero = number(0), limit = number(threshold);
    auto disagree = zero, like_before = zero;
    for (int i = 0; i < channels; ++i) {
        const int channel = channels == 1 ? 0 : channel_order[i];
        const auto difference = differences[channel];
        const auto stays = hn::Eq(difference, zero);
        auto* const at = planes.steps(channel, x, y);
        const auto up = hn::Or(hn::And(hn::Lt(difference, number(128)), hn::Gt(difference, limit)),
                               hn::Gt(difference, hn::Sub(number(255), limit)));
        const auto steps = steps_of(difference, up, limit);
        hn::StoreU(steps, row, at);
        found[channel] = {steps, moved_on(steps, at[-1]), above.here[channel], above.left[channel]};
        const auto near = hn::Add(found[channel].left, found[channel].above);
        const auto like = hn::IfThenElse(hn::Eq(like_before, zero), near, like_before);
        const auto told = hn::Xor(hn::VecFromMask(row, up), hn::VecFromMask(row, goes_up(difference, like, limit)));
        disagree = hn::Or(disagree, hn::IfThenZeroElse(stays, told));
        like_before = hn::IfThenElse(stays, like_before, steps);
    }
    if (hn::AllTrue(row, hn::Eq(disagree, zero))) return;
    HWY_ALIGN std::int16_t of[3][part_side];
    for (int channel = 0; channel < channels; ++channel) hn::Store(differences[channel], row, of[channel]);
    for (int pixel = 0; pixel < part_side; ++pixel) {
        int like = 0;
        for (int i = 0; i < channels; ++i) {
            const int channel = channels == 1 ? 0 : channel_order[i];
            auto* const at = planes.steps(channel, x + pixel, y);
            const int difference = of[channel][pixel];
            if (difference == 0) continue;
            if (!like) like = at[-1] + at[-stride];
            like = signed_steps(static_cast<std::uint8_t>(difference), threshold, like);
            *at = static_cast<std::int16_t>(like);
        }
    }
    for (int channel = 0; channel < channels; ++channel) {
        const auto* at = planes.steps(channel, x, y);
        found[channel].here = hn::LoadU(row, at);
        found[channel].left = moved_on(found[channel].here, at[-1]);
    }
}

template <int channels>
HWY_INLINE std::uint16_t* add_row(const std::uint8_t* bytes, int pixels, int threshold, int x, int y,
                                  StepPlanes& planes, RowAbove& above, std::uint16_t* entry) {
    const Row row;
    const RowBytes row_bytes;
    const auto zero = number(0), one = number(1);
    Steps differences[3];
    if constexpr (channels == 1) {
        differences[0] = bytes_at(bytes);
    } else {
        hn::VFromD<RowBytes> of[3];
        hn::LoadInterleaved3(row_bytes, bytes, of[0], of[1], of[2]);
        for (int channel = 0; channel < channels; ++channel) differences[channel] = hn::PromoteTo(row, of[channel]);
    }
    Around of[3];
    find_steps<channels>(differences, threshold, x, y, planes, above, of);

    auto pattern = zero, count = zero, up = zero, down = zero;
    for (int channel = 0; channel < channels; ++channel) {
        const auto ups = one_if(hn::Gt(of[channel].here, zero)), downs = one_if(hn::Lt(of[channel].here, zero));
        constexpr int weights[3] = {channels == 1 ? all_up : 1, 3, 9};
        pattern = hn::Add(pattern, hn::Mul(hn::Add(ups, hn::Add(downs, downs)), number(weights[channel])));
        count = hn::Add(count, hn::Add(ups, downs));
        up = hn::Or(up, ups);
        down = hn::Or(down, downs);
    }
    const auto extent = hn::Add(one_if(hn::Gt(count, zero)), one_if(hn::Eq(count, number(channels))));
    const auto direction = hn::Add(up, hn::Add(down, down));
    auto* const extents = planes.extent(x, y);
    auto* const directions = planes.direction(x, y);
    hn::StoreU(hn::DemoteTo(row_bytes, extent), row_bytes, extents);
    hn::StoreU(hn::DemoteTo(row_bytes, direction), row_bytes, directions);

    const auto extent_left = moved_on(extent, extents[-1]), extent_above = above.extent;
    const auto direction_left = moved_on(direction, directions[-1]), direction_above = above.direction;
    const auto corner_left = above.direction_left, corner_right = above.direction_right;
    const auto second = hn::Or(moved_on(extent_left, extents[-2]), above.second_extent);
    for (int channel = 0; channel < channels; ++channel) {
        above.here[channel] = of[channel].here;
        above.left[channel] = of[channel].left;
    }
    above.second_extent = above.extent;
    above.extent = extent;
    above.direction = direction;
    above.direction_left = direction_left;
    // Behind the last pixel comes another part, which is known above this one only.
    above.direction_right = hn::ShiftRightLanes<1>(row, direction);
    const auto corners = hn::Add(one_if(hn::Gt(corner_left, zero)), one_if(hn::Gt(corner_right, zero)));
    const auto changed =
        hn::Add(hn::Add(extent_left, hn::Mul(extent_above, number(3))),
                hn::Add(hn::Mul(corners, number(9)), hn::IfThenElseZero(hn::Gt(second, zero), number(27))));
    const auto flags =
        hn::Add(hn::Add(changed, changed),
                number(step_models::changed.at(changed_model(0, 0, 0, false, Foretold::differences, 0))));
    const auto changes = hn::Gt(count, zero);
    if (hn::AllFalse(row, changes)) {
        hn::StoreU(hn::BitCast(hn::RebindToUnsigned<Row>(), flags), hn::RebindToUnsigned<Row>(), entry);
        return entry + pixels;
    }
    RowEntries<channels> entries;
    entries.of[0] = hn::Add(flags, one_if(changes));
    if (pixels < part_side)
        entries.of[0] = hn::IfThenElseZero(hn::FirstN(row, static_cast<std::size_t>(pixels)), entries.of[0]);

    const auto told_left = hn::IfThenElse(hn::Gt(direction_left, zero), direction_left, corner_left);
    const auto told_above = hn::IfThenElse(hn::Gt(direction_above, zero), direction_above, corner_right);
    const auto whole = hn::Gt(hn::Max(extent_left, extent_above), one);
    const auto model =
        hn::Add(hn::Add(told_left, hn::Mul(told_above, number(4))), hn::IfThenElseZero(whole, number(16)));
    constexpr auto& kind = channels == 1 ? step_models::sign : step_models::pattern;
    const auto how = channels == 1 ? one_if(hn::Eq(pattern, number(all_down))) : ranks_of(pattern);
    entries.of[1] =
        hn::IfThenElseZero(changes, hn::Add(how, hn::Add(hn::Mul(model, number(kind.symbols)), number(kind.first))));

    Around before{zero, zero, zero, zero};
    for (int i = 0; i < channels; ++i) {
        const int channel = channels == 1 ? 0 : channel_order[i];
        const auto tokens = find_magnitudes(of[channel], before, i == 0);
        entries.of[2 + 2 * i] = tokens.symbol;
        entries.of[3 + 2 * i] = tokens.bits;
        before = step_vectors::where(hn::Eq(of[channel].here, zero), before, of[channel]);
    }
    return add_entries<channels>(entries, pixels, entry);
}

template <int channels>
std::uint16_t* add_rows(const std::uint8_t* bytes, std::ptrdiff_t row_stride, int width, int height, int threshold,
                        int x, int y, StepPlanes& planes, std::uint16_t* entry) {
    auto above = row_above_part<channels>(x, y, planes);
    for (int row = 0; row < height; ++row, bytes += row_stride) {
        std::uint8_t whole_row[part_side * channels];
        const auto* from = bytes;
        if (width < part_side) {
            std::memset(whole_row, 0, sizeof(whole_row));
            std::memcpy(whole_row, bytes, static_cast<std::size_t>(width * channels));
            from = whole_row;
        }
        entry = add_row<channels>(from, width, threshold, x, y + row, planes, above, entry);
    }
    return entry;
}

}  // namespace

std::uint16_t* add_part(const std::uint8_t* differences, std::ptrdiff_t row_stride, int channels, int width, int height,
                        int threshold, int x, int y, StepPlanes& planes, std::uint16_t* entry) {
    const auto add = channels == 1 ? &add_rows<1> : &add_rows<3>;
    return add(differences, row_stride, width, height, threshold, x, y, planes, entry);
}

}  // namespace framewire::delta::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire::delta {

HWY_EXPORT(add_part);

void StepPlanes::clear_part(int left, int top) {
    for (int y = top; y < top + part_side; ++y) {
        for (int channel = 0; channel < 3; ++channel)
            std::memset(steps(channel, left, y), 0, part_side * sizeof(std::int16_t));
        std::memset(extent(left, y), 0, part_side);
        std::memset(direction(left, y), 0, part_side);
    }
}

void add_part_entries(HostView<const std::uint8_t> differences, const BlockPlace& block, int threshold, int left,
                      int top, StepPlanes& planes, Symbols& symbols) {
    const int channels = differences.shape().channels;
    const auto most = static_cast<std::size_t>(part_side * part_side * (2 + 2 * channels));
    auto* const entry = symbols.room(most + part_side);  // whole vectors are stored
    symbols.take(HWY_DYNAMIC_DISPATCH(add_part)(
        differences.row(0, block.y + top) + std::int64_t{block.x + left} * channels, differences.row_stride_bytes(),
        channels, std::min(part_side, block.width - left), std::min(part_side, block.height - top), threshold, left,
        top, planes, entry));
}

}  // namespace framewire::delta

#endif
