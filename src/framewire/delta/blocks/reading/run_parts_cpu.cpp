// Reconstruction of blocks in runs: schedules their sub-blocks so that several independent ones are computed together,
// and converts between rows of pixels and the skewed lanes of run_lanes-inl.hpp.

#include "framewire/core/simd/simd.hpp"
#include "framewire/delta/blocks/reading/run_layout.hpp"
#include "framewire/delta/blocks/reading/run_parts.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/delta/blocks/reading/run_parts_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "framewire/delta/blocks/reading/run_lanes-inl.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace framewire::delta::HWY_NAMESPACE {
namespace run_parts {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using namespace run_layout;
using namespace run_lanes;

// Computes the magnitudes of the sub-blocks laid out in `pairs`: rows to turns, one chain step per turn, turns to rows.
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

// Writes the differences of a sub-block to `tile`. Returns false if one is too large for a byte.
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
    // Two separate loops, because loading eight bytes soon after they were stored as part of a vector stalls.
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
            // With short vectors, the last pixel lies beyond those of the three channels.
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

// Stores the last row of a sub-block for the one below it, and its last column for the one to its right.
template <int channels>
void leave_surroundings(const Made& of, std::size_t at, bool has_ways, const RunPartMaker::Pair& pair,
                        RunPartMaker& maker) {
    constexpr std::size_t last = part_side - 1;
    const auto row = part_side * at + last;
    auto& left = maker.left[of.row];
    for (std::size_t i = 0; i < channels; ++i) {
        // Directions are recovered from the magnitudes if they were not computed: all changed pixels share one.
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

// Reconstructs some sub-blocks that do not depend on each other. Returns false if a difference is too large.
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
    // Several vectors per pair give the processor enough independent work; with one vector, two pairs run together.
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

// Returns what the behaviours of all pixels imply for the computation.
Likeness like_of(std::uint8_t does) {
    if ((does & some_go_up) && (does & some_go_down)) return Likeness::none;
    return does & some_stay ? Likeness::same_way : Likeness::all;
}

// Reconstructs the sub-blocks of a block. A sub-block depends on those to its left and above it, so each row of
// sub-blocks may advance as far as the row above has come. Up to `at_once` rows therefore advance together:
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

    // Returns false if a difference is too large.
    bool make() {
        for (std::size_t first = 0; first < rows_;) {
            std::array<Made, RunPartMaker::at_once> some;
            std::size_t count = 0;
            for (auto row = first; row < rows_ && count < some.size(); ++row)
                if (pass_those_that_stay(row)) some[count++] = next(row);
            const auto made = std::span<const Made>(some).first(count);
            // Each of these rows has contributed one sub-block, and none of them depends on another.
            if (count > 0 && !make_some(made)) return false;
            for (const auto& of : made) ++come_[of.row];
            while (first < rows_ && come_[first] == columns_) ++first;
        }
        return true;
    }

private:
    PartSet bit(std::size_t row) const { return part_bit(static_cast<int>(come_[row]), static_cast<int>(row)); }
    // Skips unchanged sub-blocks of a row. Returns true if the next one changes and everything it depends on is done.
    bool pass_those_that_stay(std::size_t row) {
        const auto end = row == 0 ? columns_ : come_[row - 1];
        for (; come_[row] < end; ++come_[row]) {
            if (changed_ & bit(row)) return true;
            pass(come_[row], row, maker_);
        }
        return false;
    }
    // Returns the next sub-block of a row, and updates the behaviours around it.
    Made next(std::size_t row) {
        const auto& part = parts_[static_cast<std::size_t>(std::popcount(changed_ & (bit(row) - 1)))];
        return {&part, come_[row], row, look_around(part, come_[row], row, maker_)};
    }
    // Picks the fastest variant that is correct for all of these sub-blocks. The values of Likeness ascend in
    // generality.
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

}  // namespace framewire::delta::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire::delta {

HWY_EXPORT(make_run_block);

bool RunPartMaker::make(const BlockPlace& block, std::span<const RunPart> parts, PartSet changed,
                        const std::uint8_t* folded, int threshold, HostView<std::uint8_t> tile) {
    return HWY_DYNAMIC_DISPATCH(make_run_block)(block, parts, changed, folded, threshold, tile, *this);
}

}  // namespace framewire::delta

#endif
