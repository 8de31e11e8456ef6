// SIMD encoder for sub-blocks of blocks of changes. Steps and neighbourhoods come from found_rows-inl.hpp; here they
// become symbols, which are reordered from vectors per kind of symbol to the order pixel by pixel, and compacted.

#include "framewire/core/simd/simd.hpp"
#include "framewire/delta/blocks/parts/part_entries.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/delta/blocks/parts/part_entries_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "framewire/delta/blocks/parts/found_rows-inl.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

// Shared by all targets. The guard keeps it from being compiled once per target.
#ifndef FRAMEWIRE_DELTA_PART_ENTRIES_SHARED
#define FRAMEWIRE_DELTA_PART_ENTRIES_SHARED

namespace framewire::delta::part_entries_shared {

/// Shuffle that moves the 16-bit lanes of a set to the front: for each set of eight lanes, as bits, the byte numbers of
/// its lanes. The remaining bytes are unspecified.
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

}  // namespace framewire::delta::part_entries_shared

#endif

HWY_BEFORE_NAMESPACE();
namespace framewire::delta::HWY_NAMESPACE {
namespace part_rows {
namespace {

/// Entries of some rows as vectors, in the order in which a pixel has them: flag, pattern, and for each channel
/// magnitude and raw bits. 0 marks an absent entry.
template <int channels>
struct RowEntries {
    static constexpr int each = 2 + 2 * channels;
    Steps of[each];

    /// Reorders the entries so that those of a pixel are adjacent, by interleaving: 16-bit lanes to pairs, pairs to
    /// fours, fours to eights.
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

/// Appends the nonzero entries of a row. Without branches, because their positions are unpredictable.
HWY_INLINE std::uint16_t* add_entries(hn::VFromD<Row> row, std::uint16_t* entry) {
    const hn::RebindToUnsigned<Row> d;
    const auto entries = hn::BitCast(d, row);
    const auto there = hn::Ne(entries, hn::Zero(d));
    std::uint8_t set[8] = {};
    hn::StoreMaskBits(d, there, set);
#if HWY_TARGET <= HWY_AVX3_DL
    hn::StoreU(hn::Compress(entries, there), d, entry);
#else
    // Without an instruction for it, hn::Compress() is slow, because it copies its table to the stack.
    const hn::Repartition<std::uint8_t, decltype(d)> bytes;
    const auto order = hn::LoadU(bytes, part_entries_shared::lane_bytes[set[0]].data());
    hn::StoreU(hn::BitCast(d, hn::TableLookupBytes(hn::BitCast(bytes, entries), order)), d, entry);
#endif
    return entry + std::popcount(set[0]);
}

/// Folded magnitudes as symbols, and the entries of their raw bits, 0 if there are none: token_of() for vectors.
struct Tokens {
    Steps symbol, bits;
};
/// Returns the tokens of folded numbers below 512; larger ones use the same tables at an eighth of their value.
HWY_INLINE Tokens tokens_of(Steps folded) {
    // Tables indexed by folded / 4: the symbol, and a quarter of the difference between a number and the entry of its
    // bits.
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

/// Returns the entries of magnitudes and of their raw bits: magnitude_context() and fold() for vectors.
HWY_INLINE Tokens find_magnitudes(const Around& of, const Around& before, bool first) {
    const auto [expected, support] = expect_magnitudes(of, before);
    const auto size = hn::Add(one_if(hn::Gt(expected, number(1))), one_if(hn::Gt(expected, number(11))));
    const auto model = hn::Add(hn::Add(size, hn::Mul(support, number(3))), number((first ? 30 : 0) + 60));
    const auto magnitude =
        hn::Add(hn::Mul(model, number(step_models::magnitude.symbols)), number(step_models::magnitude.first));
    // A magnitude below the expected one is never further away than `expected - 1`, so folding needs no bound on that
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
/// Appends row `number` of some rows. `pixels` comes from RowEntries::by_pixel(); `count` is the number of changed
/// channels per pixel.
template <int number, int channels>
HWY_INLINE std::uint16_t* add_row(Steps count, Steps flags, const Steps* pixels, int width, std::uint16_t* entry) {
    if (hn::AllTrue(Row(), hn::Eq(row_of<number>(count), hn::Zero(Row()))))
        return add_flags(row_of<number>(flags), width, entry);
    for (int i = 0; i < RowEntries<channels>::each; ++i) entry = add_entries(row_of<number>(pixels[i]), entry);
    return entry;
}

/// Adds the symbols of `height` rows (1, or 2 if vectors have room) of `width` pixels.
template <int channels>
HWY_INLINE std::uint16_t* add_some_rows(const std::uint8_t* const* bytes, int width, int height, int threshold, int x,
                                        int y, StepPlanes& planes, RowsAbove& above, std::uint16_t* entry) {
    const Rows rows;
    const auto found = find_rows<channels>(bytes, threshold, x, y, planes, above);
    const auto near = neighbours_of(found, x, y, planes, above);
    const auto flags = near.flags();
    const auto changes = hn::Gt(found.count, number(0));
    if (hn::AllFalse(rows, changes)) {
        entry = add_flags(row_of<0>(flags), width, entry);
        return rows_at_once == 2 && height == 2 ? add_flags(row_of<1>(flags), width, entry) : entry;
    }
    RowEntries<channels> entries;
    entries.of[0] = hn::Add(flags, one_if(changes));
    entries.of[1] = hn::IfThenElseZero(changes, near.template patterns<channels>(found.pattern));
    for_each_coded_channel<channels>(found.of, [&](int i, const Around& of, const Around& before) HWY_ATTR {
        const auto tokens = find_magnitudes(of, before, i == 0);
        entries.of[2 + 2 * i] = tokens.symbol;
        entries.of[3 + 2 * i] = tokens.bits;
    });
    if (width < part_side) {
        // Partial sub-blocks: remove the flags of pixels outside. Their differences are 0, so they have no other
        // entries.
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
        entry = add_some_rows<channels>(bytes, of.width, height, of.threshold, of.x, y, planes, above, entry);
    });
    return entry;
}

}  // namespace
}  // namespace part_rows

std::uint16_t* add_part(const PartDifferences& of, StepPlanes& planes, std::uint16_t* entry) {
    return of.channels == 1 ? part_rows::add_rows<1>(of, planes, entry) : part_rows::add_rows<3>(of, planes, entry);
}

}  // namespace framewire::delta::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire::delta {

HWY_EXPORT(add_part);

void add_part_entries(HostView<const std::uint8_t> differences, const BlockPlace& block, int threshold, int left,
                      int top, StepPlanes& planes, Symbols& symbols) {
    auto* const entry = symbols.room(most_part_entries(differences.shape().channels));
    symbols.take(HWY_DYNAMIC_DISPATCH(add_part)(part_of(differences, block, threshold, left, top), planes, entry));
}

}  // namespace framewire::delta

#endif
