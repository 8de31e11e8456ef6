// The votes of a row of cells of eights, few bins each: include inside a SIMD source, after <hwy/highway.h>.

#if defined(FRAMEWIRE_HOG_TENT_SUMS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef FRAMEWIRE_HOG_TENT_SUMS_INL_HPP
#undef FRAMEWIRE_HOG_TENT_SUMS_INL_HPP
#else
#define FRAMEWIRE_HOG_TENT_SUMS_INL_HPP
#endif

#include "framewire/hog/gradients-inl.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace hog_gradients {

// The histograms of some neighbouring cells without a place for each vote. A bin's share of a pixel is a tent over its
// centre: 1 less the distance from there, or 0. A hinge is 0 up to a bin's centre, and behind it the distance from
// there. A tent is the hinge at the centre before, less twice the one at its own, and the one at the centre behind. So
// for all pixels hinges are summed up, times the magnitudes: a difference, a maximum and a sum for each.
//
// Magnitudes and their products with positions are whole numbers, and sums exact: where no pixel votes for a bin, it
// has exactly 0. Sums of hinges may go around beyond 32 bits, for tents fit again.
//
// Positions count from the first tent's centre. They go on up to as many bins as there are, so that the bins at both
// ends of their range have two tents.
//
// Vectors are blocks of 16 bytes. One has four pixels of a group of eight in each block, the next one the other four.
class TentSums {
public:
    static constexpr int most_bins = 9, rows = 8;

    // Whether cells of that side can be had so.
    static constexpr bool suits(int cell, int bins) { return cell % group_px == 0 && bins <= most_bins; }

    TentSums(int cell, const HogRing& ring) : ring_(ring), groups_(cell / group_px) {
        const float lowest = -ring.quarter / 2;  // position
        const float centre = std::ceil(lowest - 0.5f) - 0.5f;
        const int first_bin = static_cast<int>(std::floor(centre)) + 2 * ring.bins;
        turn_ = (ring.bins - first_bin % ring.bins) % ring.bins;
        for (const bool steep : {false, true})
            for (const bool backwards : {false, true})
                axes_[steep][backwards] =
                    upper_half((steep ? ring.quarter : 0) + (backwards && is_signed() ? ring.half : 0) - centre);
    }

    // A row of so many pixels, one of `rows`, from it and its neighbours.
    HWY_INLINE void put(int row, const std::uint8_t* above, const std::uint8_t* here, const std::uint8_t* below,
                        int pixels) {
        const D32 d32;
        const DF df;
        for (int x = 0; x < pixels; x += chunk_px) {
            Gradient gradients[abreast / 2];
            sobel_in_blocks(above + x, here + x, below + x, gradients);
            Sloping sloping;
            for (int i = 0; i < abreast; i += 2) {
                const auto there = turned(gradients[i / 2]);
                widen(there.along, sloping.along + i);
                widen(there.across, sloping.across + i);
                widen(axis_of(there), sloping.axis + i);
            }
            for (int i = 0; i < abreast; ++i) {
                sloping.along[i] = hn::ConvertTo(df, hn::BitCast(d32, sloping.along[i]));
                sloping.across[i] = hn::ConvertTo(df, hn::BitCast(d32, sloping.across[i]));
            }
            Polar found;
            polar(sloping, unit / widened, ring_, found);
            for (int i = 0; i < abreast; ++i) {
                const auto magnitude = nearest(found.magnitude[i]);
                const auto product = nearest(hn::Mul(hn::ConvertTo(df, magnitude), found.position[i]));
                hn::Store(magnitude, d32, magnitudes_[row] + x + i * lanes);
                hn::Store(product, d32, products_[row] + x + i * lanes);
            }
        }
    }

    // Adds so many pixels of `rows` rows. `first`: these are their cells' first rows.
    HWY_INLINE void add(int pixels, bool first) {
        const D32 d32;
        const DF df;
        const hn::RebindToUnsigned<D32> du;
        for (int x = 0; x < (pixels + chunk_px - 1) / chunk_px * chunk_px; x += 2 * lanes) {
            V32 sums[sums_count];
            for (auto& sum : sums) sum = hn::Zero(d32);
            if constexpr (lanes == 16) {
                add_hinges<0, most_bins>(x, sums);
            } else {  // registers hold half of them
                add_hinges<0, most_bins / 2>(x, sums);
                add_hinges<most_bins / 2, most_bins>(x, sums);
            }
            // Differences of neighbouring hinges, the first of which is all magnitudes, and of those in turn: the
            // tents.
#pragma GCC unroll 16
            for (int i = 1; i < sums_count - 1; ++i) sums[i] = hn::Sub(sums[i], sums[i + 1]);
#pragma GCC unroll 16
            for (int i = 0; i < sums_count - 1; ++i) sums[i] = hn::Sub(sums[i], sums[i + 1]);
            for (int four = 0; four < fours; ++four) {
                // A bit less: as numbers without a sign they may be too large for a conversion.
                const auto tents = hn::ShiftRight<1>(hn::BitCast(du, block_sums(sums + 4 * four)));
                auto shares = hn::Mul(hn::ConvertTo(df, hn::BitCast(d32, tents)), hn::Set(df, 2 / unit));
                auto* const to = shares_[four] + x / 2;
                if (!first) shares = hn::Add(shares, hn::Load(df, to));
                hn::Store(shares, df, to);
            }
        }
    }

    // Puts out the histograms of the first `count` cells.
    HWY_INLINE void finish(int count, float* out) {
        const hn::FixedTag<float, 4> df4;
        const hn::FixedTag<float, 2> df2;
        const int bins = ring_.bins;
        // One step for all cells before the next: what was just written is not to be read at another width.
        for (int cell = 0; cell < count; ++cell)
            for (int four = 0; four < fours; ++four) {
                const auto* const shares = shares_[four];
                auto sum = hn::Load(df4, shares + place_of(cell * groups_));
                for (int group = 1; group < groups_; ++group)
                    sum = hn::Add(sum, hn::Load(df4, shares + place_of(cell * groups_ + group)));
                hn::Store(sum, df4, tents_[cell] + 4 * four);
            }
        // The last two tents are of the first two bins as well; then twice around the ring.
        for (int cell = 0; cell < count; ++cell) {
            auto* const tents = tents_[cell];
            const auto again = hn::ZeroExtendVector(df4, hn::LoadU(df2, tents + bins));
            const auto first = hn::Add(hn::Load(df4, tents), again), second = hn::Load(df4, tents + 4),
                       third = hn::Load(df4, tents + 8);
            hn::Store(first, df4, tents);
            hn::StoreU(first, df4, tents + bins);
            hn::StoreU(second, df4, tents + bins + 4);
            hn::StoreU(third, df4, tents + bins + 8);
        }
        for (int cell = 0; cell < count; ++cell) {
            const auto* const from = tents_[cell] + turn_;
            if (bins == most_bins)  // a copy whose length is known
                std::copy_n(from, most_bins, out + cell * most_bins);
            else
                std::copy_n(from, bins, out + cell * bins);
        }
    }

private:
    static constexpr int group_px = 8, lanes = static_cast<int>(hn::MaxLanes(D32())), blocks = lanes / 4;
    static constexpr int chunk_px = abreast * lanes, room_px = 128 + chunk_px;
    static_assert(abreast == 4, "a group is two vectors, and a chunk has those of even and of odd numbers");
    // All magnitudes; the hinge at the first tent's centre, which is all products; those at the others; and 0.
    static constexpr int sums_count = most_bins + 3, fours = sums_count / 4;
    // What 1 is. The longest gradient is 255 times (4, 2), and a group has 64 pixels.
    static constexpr float unit = 0x1p15f, widened = 0x1p16f;
    static_assert(64 * 255.0 * 4.5 * unit < 0x1p32);

    bool is_signed() const { return ring_.half < ring_.whole; }

    // Positions of axes are exact so: multiples of a quarter, below 64.
    static std::int16_t upper_half(float value) {
        return static_cast<std::int16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
    }

    // Where a group's shares are: in each chunk those of even numbers come first.
    static HWY_INLINE int place_of(int group) {
        const int within = group % (2 * blocks);
        return 4 * (group - within + within % 2 * blocks + within / 2);
    }

    // Both halves of each block, as the upper halves of lanes of 32 bits: whole numbers times `widened`.
    static HWY_INLINE void widen(V16 values, VF* to) {
        const D16 d16;
        const DF df;
        to[0] = hn::BitCast(df, hn::InterleaveLower(d16, hn::Zero(d16), values));
        to[1] = hn::BitCast(df, hn::InterleaveUpper(d16, hn::Zero(d16), values));
    }

    HWY_INLINE V16 axis_of(const Turned& there) const {
        const D16 d16;
        const auto axis = [&](bool backwards) HWY_ATTR {
            return hn::IfThenElse(there.steep, hn::Set(d16, axes_[1][backwards]), hn::Set(d16, axes_[0][backwards]));
        };
        if (!is_signed()) return axis(false);
        return hn::IfThenElse(hn::Lt(there.along, hn::Zero(d16)), axis(true), axis(false));
    }

    // As hn::NearestInt(), which looks after what does not fit.
    static HWY_INLINE V32 nearest(VF values) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
        return V32{_mm512_cvtps_epi32(values.raw)};
#elif HWY_TARGET == HWY_AVX2
        return V32{_mm256_cvtps_epi32(values.raw)};
#elif HWY_TARGET == HWY_SSE4
        return V32{_mm_cvtps_epi32(values.raw)};
#else
        return hn::NearestInt(values);
#endif
    }

    // Adds the hinges of two vectors of pixels at the centres behind `begin`, up to `end`.
    template <int begin, int end>
    HWY_INLINE void add_hinges(int x, V32* sums) const {
        const D32 d32;
        constexpr int times_four = 2;
        static_assert(begin == 0 || begin == 1 << times_four);
        // Of all rows at once GCC would have more under way than registers hold.
#pragma GCC unroll 1
        for (int row = 0; row < rows; ++row)
            for (int at = x; at < x + 2 * lanes; at += lanes) {
                const auto magnitude = hn::Load(d32, magnitudes_[row] + at);
                auto above = hn::Load(d32, products_[row] + at);
                if constexpr (begin == 0) {
                    sums[0] = hn::Add(sums[0], magnitude);
                    sums[1] = hn::Add(sums[1], above);
                } else {
                    above = hn::Sub(above, hn::ShiftLeft<times_four>(magnitude));
                }
#pragma GCC unroll 16
                for (int centre = begin + 1; centre <= end; ++centre) {
                    above = hn::Sub(above, magnitude);
                    sums[centre + 1] = hn::Add(sums[centre + 1], hn::Max(above, hn::Zero(d32)));
                }
            }
    }

    // The sums of each block of four vectors.
    static HWY_INLINE V32 block_sums(const V32* vectors) {
        const D32 d32;
        const hn::Repartition<std::int64_t, D32> d64;
        const auto twos = [&](V32 a, V32 b) HWY_ATTR {
            return hn::BitCast(d64, hn::Add(hn::InterleaveLower(d32, a, b), hn::InterleaveUpper(d32, a, b)));
        };
        const auto first = twos(vectors[0], vectors[1]), second = twos(vectors[2], vectors[3]);
        return hn::Add(hn::BitCast(d32, hn::InterleaveLower(d64, first, second)),
                       hn::BitCast(d32, hn::InterleaveUpper(d64, first, second)));
    }

    HWY_ALIGN std::int32_t magnitudes_[rows][room_px];
    HWY_ALIGN std::int32_t products_[rows][room_px];  // with the positions
    HWY_ALIGN float shares_[fours][room_px / 2];      // four tents of each group
    HWY_ALIGN float tents_[room_px / group_px][most_bins + sums_count + 3];
    const HogRing& ring_;
    const int groups_;
    int turn_;                 // the tent of the first bin
    std::int16_t axes_[2][2];  // of gradients that are steep, and backwards
};

}  // namespace hog_gradients
}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
