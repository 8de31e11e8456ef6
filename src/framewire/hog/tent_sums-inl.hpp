// The votes of a row of cells on processors with AVX-512: include inside a SIMD source, after gradients-inl.hpp.

#if defined(FRAMEWIRE_HOG_TENT_SUMS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef FRAMEWIRE_HOG_TENT_SUMS_INL_HPP
#undef FRAMEWIRE_HOG_TENT_SUMS_INL_HPP
#else
#define FRAMEWIRE_HOG_TENT_SUMS_INL_HPP
#endif

#include "framewire/hog/gradients-inl.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#undef FRAMEWIRE_HOG_TENTS
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
#define FRAMEWIRE_HOG_TENTS 1

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace hog_gradients {

// The histograms of some neighbouring cells without a place for each vote. A bin's share of a pixel is a tent over its
// centre: 1 less the distance from there, or 0. What a tent lacks is summed up for all pixels, the lesser of magnitude
// and magnitude times distance: three instructions for 16 pixels. A bin has all magnitudes less that; where no pixel
// votes for it both are the same sums, and it has exactly 0.
//
// Positions go on below 0, so that the bins at both ends of their range have two tents.
class TentSums {
public:
    static constexpr int most_bins = 9, rows = 8;

    // Whether cells of that side can be had so, and as fast as one by one.
    static constexpr bool suits(int cell, int bins) { return cell % group_px == 0 && bins <= most_bins; }

    TentSums(int cell, const HogRing& ring) : groups_(cell / group_px), bins_(ring.bins) {
        const float lowest = -ring.quarter / 2;  // position
        const int first = static_cast<int>(std::floor(lowest - 1.5f)) + 1;
        std::fill_n(own_, lanes, lane_of(all));
        std::fill_n(again_, lanes, lane_of(all));
        for (int tent = 0; tent < tents; ++tent) {
            centres_[tent] = static_cast<float>(first + tent) + 0.5f;
            if (tent >= bins_ + 2) continue;
            // With UBSan, GCC 12 gets the index of an array wrong that a condition chooses; not that of a pointer.
            std::int32_t* const of_bins = tent < bins_ ? own_ : again_;
            of_bins[(first + tent + 2 * bins_) % bins_] = lane_of(tent);
        }
    }

    // The pixels from `x` on of one of `rows` rows, as many as a vector has.
    HWY_INLINE void put(int row, std::int64_t x, VF magnitude, VF position) {
        const DF df;
        hn::Store(magnitude, df, magnitudes_[row] + x);
        hn::Store(hn::Mul(magnitude, position), df, products_[row] + x);
    }

    // Adds so many pixels of `rows` rows. `first`: these are their cells' first rows.
    HWY_INLINE void add(int pixels, bool first) {
        const DF df;
        for (int x = 0; x < pixels; x += lanes) {
            VF sums[2 * group_px];
            for (auto& sum : sums) sum = hn::Zero(df);
            for (int row = 0; row < rows; ++row) {
                const auto magnitude = hn::Load(df, magnitudes_[row] + x), product = hn::Load(df, products_[row] + x);
                sums[all] = hn::Add(sums[all], magnitude);
#pragma GCC unroll 16
                for (int tent = 0; tent < tents; ++tent) {
                    const auto distance = hn::NegMulAdd(hn::Set(df, centres_[tent]), magnitude, product);
                    sums[tent] = hn::Add(sums[tent], least_magnitude(distance, magnitude));
                }
            }
            VF groups[2];
            add_lanes(sums, groups);
            for (int group = 0; group < 2; ++group) {
                auto* const to = sums_[x / group_px + group];
                hn::Store(first ? groups[group] : hn::Add(groups[group], hn::Load(df, to)), df, to);
            }
        }
    }

    // Puts out the histograms of the first `count` cells.
    HWY_INLINE void finish(int count, float* out) const {
        const DF df;
        const auto bins = hn::FirstN(df, static_cast<std::size_t>(bins_));
        HWY_ALIGN std::int32_t alls[lanes];
        std::fill_n(alls, lanes, lane_of(all));
        const auto of_all = hn::SetTableIndices(df, alls), own = hn::SetTableIndices(df, own_),
                   again = hn::SetTableIndices(df, again_);
        for (int cell = 0; cell < count; ++cell) {
            auto sum = hn::Load(df, sums_[cell * groups_]);
            for (int group = 1; group < groups_; ++group)
                sum = hn::Add(sum, hn::Load(df, sums_[cell * groups_ + group]));
            // Rounding may bring what is just above 0 below it.
            const auto shares = hn::Max(hn::Sub(hn::TableLookupLanes(sum, of_all), sum), hn::Zero(df));
            hn::BlendedStore(hn::Add(hn::TableLookupLanes(shares, own), hn::TableLookupLanes(shares, again)), bins, df,
                             out + cell * bins_);
        }
    }

private:
    static constexpr int group_px = 8, lanes = 16, tents = most_bins + 2;
    static constexpr int all = tents + 1;  // the vector of all magnitudes' sums, beside the tents'
    static constexpr int room_px = 128 + abreast * lanes;

    // Where add_lanes() puts a vector's sum.
    static constexpr int lane_of(int vector) {
        return vector / 4 == 1 ? vector + 4 : vector / 4 == 2 ? vector - 4 : vector;
    }

    // The one nearer to 0, without its sign.
    static HWY_INLINE VF least_magnitude(VF a, VF b) {
        constexpr int least = 2, without_sign = 2 << 2;
        return VF{_mm512_range_ps(a.raw, b.raw, least | without_sign)};
    }

    // The sums of both halves of 16 vectors.
    static HWY_INLINE void add_lanes(const VF* vectors, VF* halves) {
        constexpr int even = 0x88, odd = 0xDD;  // blocks 0 and 2, or 1 and 3, of each
        VF fours[8], twos[4], ones[2];
        for (int i = 0; i < 8; ++i) {
            const auto a = vectors[i].raw, b = vectors[i + 8].raw;
            fours[i] = hn::Add(VF{_mm512_shuffle_f32x4(a, b, even)}, VF{_mm512_shuffle_f32x4(a, b, odd)});
        }
        for (int i = 0; i < 4; ++i) {
            const auto a = fours[2 * i].raw, b = fours[2 * i + 1].raw;
            twos[i] = hn::Add(VF{_mm512_unpacklo_ps(a, b)}, VF{_mm512_unpackhi_ps(a, b)});
        }
        for (int i = 0; i < 2; ++i) {
            const auto a = twos[2 * i].raw, b = twos[2 * i + 1].raw;
            ones[i] = hn::Add(VF{_mm512_shuffle_ps(a, b, 0x44)}, VF{_mm512_shuffle_ps(a, b, 0xEE)});
        }
        halves[0] = VF{_mm512_shuffle_f32x4(ones[0].raw, ones[1].raw, even)};
        halves[1] = VF{_mm512_shuffle_f32x4(ones[0].raw, ones[1].raw, odd)};
    }

    HWY_ALIGN float magnitudes_[rows][room_px];
    HWY_ALIGN float products_[rows][room_px];  // with the positions
    HWY_ALIGN float sums_[room_px / group_px][lanes];
    float centres_[tents];
    const int groups_, bins_;
    // Of each bin, the lanes of its tents' sums; where there is no second one, a lane that comes to 0.
    HWY_ALIGN std::int32_t own_[lanes], again_[lanes];
};

}  // namespace hog_gradients
}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#else
#define FRAMEWIRE_HOG_TENTS 0
#endif

#endif  // per target
