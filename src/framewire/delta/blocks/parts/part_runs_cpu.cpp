// SIMD encoder for sub-blocks of blocks in runs. Steps and neighbourhoods come from found_rows-inl.hpp; here rows
// become one symbol each where possible, and magnitudes are folded and appended per channel.

#include "framewire/core/simd/simd.hpp"
#include "framewire/delta/blocks/parts/part_runs.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/delta/blocks/parts/part_runs_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "framewire/delta/blocks/parts/found_rows-inl.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

// Shared by all targets. The guard keeps it from being compiled once per target.
#ifndef FRAMEWIRE_DELTA_PART_RUNS_SHARED
#define FRAMEWIRE_DELTA_PART_RUNS_SHARED

namespace framewire::delta::part_runs_shared {

/// Shuffle that moves the bytes of a set to the front: for each set of eight lanes, as bits, their numbers. The
/// remaining bytes are unspecified.
inline constexpr auto set_bytes = [] {
    std::array<std::array<std::uint8_t, 8>, 256> all{};
    for (std::size_t set = 0; set < all.size(); ++set) {
        std::size_t next = 0;
        for (std::size_t lane = 0; lane < 8; ++lane)
            if (set >> lane & 1) all[set][next++] = static_cast<std::uint8_t>(lane);
    }
    return all;
}();

}  // namespace framewire::delta::part_runs_shared

#endif

HWY_BEFORE_NAMESPACE();
namespace framewire::delta::HWY_NAMESPACE {
namespace part_rows {
namespace {

/// delta::fold_within() for vectors.
HWY_INLINE Steps fold_within(Steps here, Steps expected) {
    const auto both = hn::Min(hn::Sub(expected, number(1)), hn::Sub(number(max_steps), expected));
    return fold_around(hn::Sub(hn::Abs(here), expected), both);
}

/// Output positions while a sub-block is coded.
struct RunsUnderWay {
    RunsPart& part;
    RunRow above;  ///< the previous row
    std::uint16_t* entry;
    std::uint8_t* folded[3];  ///< per channel in the order of coding: address of the next folded magnitude
    hn::VFromD<Row> off[3];   ///< per channel: sums of the distances, in lanes
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

/// Flags and patterns of some rows, pixel by pixel; used for mixed rows.
struct MixedEntries {
    alignas(32) std::uint16_t flags[rows_at_once * part_side], patterns[rows_at_once * part_side];
};

/// Adds the symbols of one row. Bit x of `changed` is set if pixel x changes. `flags` and `patterns` are read only if
/// the row is mixed.
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

/// Adds `height` rows of `width` pixels: their symbols, then the magnitudes of all of them.
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
    // One bit per pixel: changes at all, goes up with all channels, goes down with all channels.
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
        hn::Store(hn::BitCast(d, hn::Add(near.flags(), one_if(changes))), d, mixed.flags);
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

}  // namespace framewire::delta::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire::delta {

HWY_EXPORT(add_run_part);

void add_part_runs(HostView<const std::uint8_t> differences, const BlockPlace& block, int threshold, int left, int top,
                   StepPlanes& planes, RunsPart& part, Symbols& symbols) {
    auto* const entry = symbols.room(most_part_entries(differences.shape().channels));
    symbols.take(
        HWY_DYNAMIC_DISPATCH(add_run_part)(part_of(differences, block, threshold, left, top), planes, part, entry));
}

}  // namespace framewire::delta

#endif
