// Vectors of one or two rows of a sub-block: types, loads and stores. Include it inside a Highway target namespace,
// after <hwy/highway.h>.

#if defined(FRAMEWIRE_DELTA_PART_ROWS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef FRAMEWIRE_DELTA_PART_ROWS_INL_HPP
#undef FRAMEWIRE_DELTA_PART_ROWS_INL_HPP
#else
#define FRAMEWIRE_DELTA_PART_ROWS_INL_HPP
#endif

#include "framewire/delta/blocks/parts/part_differences.hpp"
#include "framewire/delta/blocks/step_planes.hpp"
#include "framewire/delta/blocks/step_vectors-inl.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace framewire::delta::HWY_NAMESPACE {
namespace part_rows {

namespace hn = hwy::HWY_NAMESPACE;

/// Tag for 16-bit lanes: one row of a sub-block, or two where vectors are long enough. The lower half has the upper
/// row.
using Rows = hn::CappedTag<std::int16_t, 2 * part_side>;
/// One 16-bit number for each pixel of these rows.
using Steps = hn::VFromD<Rows>;
/// Number of rows in a vector.
constexpr int rows_at_once = hn::MaxLanes(Rows()) / part_side;
static_assert(rows_at_once == 1 || rows_at_once == 2);

/// Tags for a single row, as 16-bit lanes and as bytes.
using Row = hn::CappedTag<std::int16_t, part_side>;
using RowBytes = hn::Rebind<std::uint8_t, Row>;

/// Returns a vector with `value` in each lane.
HWY_INLINE Steps number(int value) { return hn::Set(Rows(), static_cast<std::int16_t>(value)); }
/// Returns 1 in the lanes of `mask`, else 0.
template <class Mask>
HWY_INLINE Steps one_if(Mask mask) {
    return step_vectors::one_if(Rows(), mask);
}
/// Builds a vector from load(0), the upper row, and load(1), the lower one.
template <class Load>
HWY_INLINE Steps rows_of(Load&& load) {
    if constexpr (rows_at_once == 1)
        return load(0);
    else
        return hn::Combine(Rows(), load(1), load(0));
}
/// Loads rows of steps from StepPlanes.
HWY_INLINE Steps steps_at(const std::int16_t* at) {
    return rows_of([&](int row) HWY_ATTR { return hn::LoadU(Row(), at + row * std::ptrdiff_t{StepPlanes::stride}); });
}
/// Loads 8 bytes and widens them to 16 bits.
HWY_INLINE hn::VFromD<Row> row_of_bytes(const std::uint8_t* at) {
    return hn::PromoteTo(Row(), hn::LoadU(RowBytes(), at));
}
/// Loads rows of bytes from StepPlanes and widens them.
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
/// Stores rows as bytes to StepPlanes.
HWY_INLINE void store_bytes(Steps bytes, std::uint8_t* at) {
    hn::StoreU(hn::DemoteTo(RowBytes(), row_of<0>(bytes)), RowBytes(), at);
    if constexpr (rows_at_once == 2)
        hn::StoreU(hn::DemoteTo(RowBytes(), row_of<1>(bytes)), RowBytes(), at + StepPlanes::stride);
}

/// Returns, for each row of `rows`, the row above it. `before` holds the rows before `rows`.
template <class V>
HWY_INLINE V one_above(V rows, V before) {
    if constexpr (sizeof(V) == sizeof(hn::VFromD<Row>))
        return before;
    else
        return hn::ConcatLowerUpper(Rows(), rows, before);
}
/// Returns `rows` shifted so that each lane has the pixel `pixels` to its left. `part_left` holds the same rows of the
/// sub-block to the left. Loading the shifted rows instead would stall on the stores that were just made.
template <int pixels>
HWY_INLINE Steps to_the_left(Steps rows, Steps part_left) {
    return hn::CombineShiftRightLanes<part_side - pixels>(Rows(), rows, part_left);
}

/// Steps around each pixel of some rows.
using Around = step_vectors::Around<Steps>;

/// Calls body(bytes, height, y) for `rows_at_once` rows of a sub-block at a time. Rows of partial sub-blocks are copied
/// and padded with zeros, so `bytes` always has whole rows.
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
}  // namespace framewire::delta::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
