#include "framewire/core/simd/simd.hpp"
#include "framewire/delta/blocks/part_steps.hpp"
#include "framewire/delta/blocks/step_contexts.hpp"
#include "framewire/delta/entropy/models.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/delta/blocks/part_steps_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "framewire/delta/blocks/step_vectors-inl.hpp"

#include <algorithm>
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
HWY_INLINE void store(Steps steps, std::uint16_t* to) {
    hn::StoreU(hn::BitCast(hn::RebindToUnsigned<Row>(), steps), hn::RebindToUnsigned<Row>(), to);
}

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

/// magnitude_context() and fold(), of eight pixels. `before`: of the channel before, with steps of 0 where it does not
/// change.
HWY_INLINE void find_magnitudes(const Around& of, const Around& before, bool first, std::uint16_t* magnitude,
                                std::uint16_t* folded) {
    const auto zero = number(0), one = number(1);
    const auto down = hn::VecFromMask(Row(), hn::Lt(of.here, zero));
    const auto steps_before = hn::Sub(hn::Xor(before.here, down), down);
    const auto same = hn::Gt(steps_before, zero);
    const auto without = step_vectors::expectation(Row(), down, of, before, same);
    const auto foretold = hn::Min(hn::Max(hn::Add(steps_before, without.expected), one), number(max_steps));
    const auto expected = hn::IfThenElse(same, foretold, without.expected);
    const auto size = hn::Add(one_if(hn::Gt(expected, one)), one_if(hn::Gt(expected, number(11))));
    const auto model = hn::Add(hn::Add(size, hn::Mul(without.support, number(3))), number((first ? 30 : 0) + 60));
    store(hn::Add(hn::Mul(model, number(step_models::magnitude.symbols)), number(step_models::magnitude.first)),
          magnitude);

    const auto off = hn::Sub(hn::Abs(of.here), expected), reach = hn::Sub(expected, one), twice = hn::Add(off, off);
    const auto around_it = hn::IfThenElse(hn::Gt(off, zero), hn::Sub(twice, one), hn::Sub(zero, twice));
    store(hn::IfThenElse(hn::Gt(off, reach), hn::Add(off, reach), around_it), folded);
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
HWY_INLINE void find_row(const std::uint8_t* bytes, int threshold, int x, int y, StepPlanes& planes, RowAbove& above,
                         RowSymbols& symbols) {
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
    store(pattern, symbols.pattern.data());

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
    store(hn::Add(hn::Add(changed, changed),
                  number(step_models::changed.at(changed_model({}, Foretold::differences, 0)))),
          symbols.changed.data());

    symbols.kind = RowKind::stays;
    if (hn::AllTrue(row, hn::Eq(count, zero))) return;
    const auto alike = hn::Or(hn::Eq(pattern, number(all_up)), hn::Eq(pattern, number(all_down)));
    symbols.kind = hn::AllTrue(row, alike) ? RowKind::alike : RowKind::mixed;

    const auto told_left = hn::IfThenElse(hn::Gt(direction_left, zero), direction_left, corner_left);
    const auto told_above = hn::IfThenElse(hn::Gt(direction_above, zero), direction_above, corner_right);
    const auto whole = hn::Gt(hn::Max(extent_left, extent_above), one);
    const auto model =
        hn::Add(hn::Add(told_left, hn::Mul(told_above, number(4))), hn::IfThenElseZero(whole, number(16)));
    constexpr auto& kind = channels == 1 ? step_models::sign : step_models::pattern;
    store(hn::Add(hn::Mul(model, number(kind.symbols)), number(kind.first)), symbols.by.data());

    Around before{zero, zero, zero, zero};
    for (int i = 0; i < channels; ++i) {
        const int channel = channels == 1 ? 0 : channel_order[i];
        const auto at = static_cast<std::size_t>(channel);
        find_magnitudes(of[channel], before, i == 0, symbols.magnitude[at].data(), symbols.folded[at].data());
        before = step_vectors::where(hn::Eq(of[channel].here, zero), before, of[channel]);
    }
}

template <int channels>
void find_rows(const std::uint8_t* bytes, std::ptrdiff_t row_stride, int width, int height, int threshold, int x, int y,
               StepPlanes& planes, PartSymbols& symbols) {
    auto above = row_above_part<channels>(x, y, planes);
    for (int row = 0; row < height; ++row, bytes += row_stride) {
        std::uint8_t whole_row[part_side * channels];
        const auto* from = bytes;
        if (width < part_side) {
            std::memset(whole_row, 0, sizeof(whole_row));
            std::memcpy(whole_row, bytes, static_cast<std::size_t>(width * channels));
            from = whole_row;
        }
        find_row<channels>(from, threshold, x, y + row, planes, above, symbols[static_cast<std::size_t>(row)]);
    }
}

}  // namespace

void find_part(const std::uint8_t* differences, std::ptrdiff_t row_stride, int channels, int width, int height,
               int threshold, int x, int y, StepPlanes& planes, PartSymbols& symbols) {
    const auto find = channels == 1 ? &find_rows<1> : &find_rows<3>;
    find(differences, row_stride, width, height, threshold, x, y, planes, symbols);
}

}  // namespace framewire::delta::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire::delta {

HWY_EXPORT(find_part);

void StepPlanes::clear_part(int left, int top) {
    for (int y = top; y < top + part_side; ++y) {
        for (int channel = 0; channel < 3; ++channel)
            std::memset(steps(channel, left, y), 0, part_side * sizeof(std::int16_t));
        std::memset(extent(left, y), 0, part_side);
        std::memset(direction(left, y), 0, part_side);
    }
}

void find_part_symbols(HostView<const std::uint8_t> differences, const BlockPlace& block, int threshold, int left,
                       int top, StepPlanes& planes, PartSymbols& symbols) {
    const int channels = differences.shape().channels;
    HWY_DYNAMIC_DISPATCH(find_part)
    (differences.row(0, block.y + top) + std::int64_t{block.x + left} * channels, differences.row_stride_bytes(),
     channels, std::min(part_side, block.width - left), std::min(part_side, block.height - top), threshold, left, top,
     planes, symbols);
}

}  // namespace framewire::delta

#endif
