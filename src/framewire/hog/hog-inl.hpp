// Computes gradients of a row of pixels on the CPU, and their votes. Include it inside a SIMD source, after
// <hwy/highway.h>.
//
// A pixel's direction is a position on a ring of bins, in units of bins (HogRing), and its magnitude is split between
// the two nearest bin centres:
//
//     sobel() or central() -> turned() -> polar() -> vote_of()
//     gx, gy                  along,      magnitude, slot and the
//                             across      position   shares of two bins

#if defined(FRAMEWIRE_HOG_HOG_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef FRAMEWIRE_HOG_HOG_INL_HPP
#undef FRAMEWIRE_HOG_HOG_INL_HPP
#else
#define FRAMEWIRE_HOG_HOG_INL_HPP
#endif

#include "framewire/hog/hog.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace hog_gradients {

namespace hn = hwy::HWY_NAMESPACE;

using D16 = hn::ScalableTag<std::int16_t>;
using D32 = hn::RepartitionToWide<D16>;
using DF = hn::RebindToFloat<D32>;
using V16 = hn::VFromD<D16>;
using V32 = hn::VFromD<D32>;
using VF = hn::VFromD<DF>;
using MF = hn::Mask<DF>;

// Gradient of a vector of pixels.
struct Gradient {
    V16 x, y;
};

// Computes the Sobel gradients (3x3) of as many pixels as a vector of 16 bits has lanes.
HWY_INLINE Gradient sobel(const std::uint8_t* above, const std::uint8_t* row, const std::uint8_t* below) {
    const D16 d16;
    const hn::Rebind<std::uint8_t, D16> d8;
    const auto load = [&](const std::uint8_t* at) HWY_ATTR { return hn::PromoteTo(d16, hn::LoadU(d8, at)); };
    const auto difference = [&](const std::uint8_t* at) HWY_ATTR { return hn::Sub(load(at + 1), load(at - 1)); };
    const auto sum = [&](const std::uint8_t* at)
                         HWY_ATTR { return hn::Add(hn::Add(load(at - 1), load(at + 1)), hn::ShiftLeft<1>(load(at))); };
    return {hn::Add(hn::Add(difference(above), difference(below)), hn::ShiftLeft<1>(difference(row))),
            hn::Sub(sum(below), sum(above))};
}

// Computes the central differences of as many pixels as a vector of 16 bits has lanes.
HWY_INLINE Gradient central(const std::uint8_t* above, const std::uint8_t* row, const std::uint8_t* below) {
    const D16 d16;
    const hn::Rebind<std::uint8_t, D16> d8;
    const auto load = [&](const std::uint8_t* at) HWY_ATTR { return hn::PromoteTo(d16, hn::LoadU(d8, at)); };
    return {hn::Sub(load(row + 1), load(row - 1)), hn::Sub(load(below), load(above))};
}

// Returns, for each pixel, the longer of two gradients; of equal ones, the first. Squared lengths have 32 bits, so even
// and odd lanes are compared separately.
HWY_INLINE Gradient longest(const Gradient& one, const Gradient& other) {
    const D16 d16;
    const D32 d32;
    const auto even = [](V16 values)
                          HWY_ATTR { return hn::ShiftRight<16>(hn::ShiftLeft<16>(hn::BitCast(D32(), values))); };
    const auto odd = [](V16 values) HWY_ATTR { return hn::ShiftRight<16>(hn::BitCast(D32(), values)); };
    // Returns the lanes in which `other` is longer, with all bits set.
    const auto longer = [&](auto&& lanes_of) HWY_ATTR {
        const auto energy = [&](const Gradient& of) HWY_ATTR {
            const auto x = lanes_of(of.x), y = lanes_of(of.y);
            return hn::Add(hn::Mul(x, x), hn::Mul(y, y));
        };
        return hn::VecFromMask(d32, hn::Gt(energy(other), energy(one)));
    };
    const auto of_both = hn::IfThenElse(hn::MaskFromVec(hn::BitCast(d16, hn::Set(d32, 0x0000FFFF))),
                                        hn::BitCast(d16, longer(even)), hn::BitCast(d16, longer(odd)));
    const auto second = hn::MaskFromVec(of_both);
    return {hn::IfThenElse(second, other.x, one.x), hn::IfThenElse(second, other.y, one.y)};
}

// Returns the gradients at `x` that `gradient_of(above, row, below)` computes, of the plane in which they are longest.
template <class GradientOf>
HWY_INLINE Gradient gradient_at(const HogRows& rows, std::int64_t x, GradientOf&& gradient_of) {
    const auto of_plane = [&](int plane) HWY_ATTR {
        const auto at = plane * rows.plane_stride_bytes + x;
        return gradient_of(rows.above + at, rows.row + at, rows.below + at);
    };
    auto best = of_plane(rows.planes - 1);
    for (int plane = rows.planes - 2; plane >= 0; --plane) best = longest(best, of_plane(plane));
    return best;
}

// A gradient turned to within 45 degrees of an axis: its component `along` the axis, and its component `across`, to the
// left of the axis. Directions at both ends of an axis give the same quotient, so one signed division gives the angle
// from the axis.
struct Turned {
    V16 along, across;
    hn::Mask<D16> steep;  // true for the y axis
};

// Swaps the axes of steep gradients, which keeps the quotient across / along within -1..1.
HWY_INLINE Turned turned(const Gradient& gradient) {
    const auto steep = hn::Gt(hn::Abs(gradient.y), hn::Abs(gradient.x));
    return {hn::IfThenElse(steep, gradient.y, gradient.x), hn::IfThenElse(steep, hn::Neg(gradient.x), gradient.y),
            steep};
}

// Converts both halves of a vector, or of a mask of one, to 32 bits.
HWY_INLINE void halve(V16 values, VF* to) {
    const hn::Half<D16> half;
    to[0] = hn::ConvertTo(DF(), hn::PromoteTo(D32(), hn::LowerHalf(half, values)));
    to[1] = hn::ConvertTo(DF(), hn::PromoteTo(D32(), hn::UpperHalf(half, values)));
}

// Converts both halves of a mask to 32 bits; AVX-512 masks are split by a shift.
HWY_INLINE void halve(hn::Mask<D16> mask, MF* to) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
    to[0] = MF{static_cast<decltype(MF::raw)>(mask.raw)};
    to[1] = MF{static_cast<decltype(MF::raw)>(mask.raw >> hn::MaxLanes(DF()))};
#else
    const hn::Half<D16> half;
    const auto ones = hn::VecFromMask(D16(), mask);
    const V32 halves[] = {hn::PromoteTo(D32(), hn::LowerHalf(half, ones)),
                          hn::PromoteTo(D32(), hn::UpperHalf(half, ones))};
    for (int i = 0; i < 2; ++i) to[i] = hn::RebindMask(DF(), hn::MaskFromVec(halves[i]));
#endif
}

// Number of vectors that pass through each step together. A single vector would wait for its own results.
constexpr int abreast = 4;

// Turned gradients, and the positions of their axes on the ring.
struct Directed {
    VF along[abreast], across[abreast], axis[abreast];
};

// Result of polar() for several vectors.
struct Polar {
    // Positions start at -1/8 turn (before the first axis), or at -1/4 turn with unsigned gradients.
    VF magnitude[abreast], position[abreast];
};

// Computes magnitudes and positions on the ring; positions may be below that of the first axis. Votes change
// continuously around the whole ring, so a rounding that moves a position over the edge of a bin does no harm.
// Magnitudes have the unit of the gradients.
HWY_INLINE void polar(const Directed& gradient, const HogRing& ring, Polar& out) {
    const DF df;
    VF ratio[abreast], square[abreast], sum[abreast], axis[abreast];
    for (int i = 0; i < abreast; ++i) {
        // If both components are 0, any angle is correct; choose 0.
        const auto there = hn::Ne(gradient.along[i], hn::Zero(df));
        ratio[i] = hn::IfThenElseZero(there, hn::Div(gradient.across[i], gradient.along[i]));
        axis[i] = gradient.axis[i];
    }
    if (ring.half < ring.whole)
        for (int i = 0; i < abreast; ++i)
            axis[i] = hn::IfThenElse(hn::Lt(gradient.along[i], hn::Zero(df)), hn::Add(axis[i], hn::Set(df, ring.half)),
                                     axis[i]);
    // Evaluates the arctangent's polynomial in the square of the ratio (Horner's rule).
    for (int i = 0; i < abreast; ++i) {
        square[i] = hn::Mul(ratio[i], ratio[i]);
        sum[i] = hn::MulAdd(hn::Set(df, ring.arctangent[6]), square[i], hn::Set(df, ring.arctangent[5]));
    }
    for (int term = 4; term >= 1; --term)
        for (int i = 0; i < abreast; ++i) {
            sum[i] = hn::MulAdd(sum[i], square[i], hn::Set(df, ring.arctangent[term]));
        }
    for (int i = 0; i < abreast; ++i) {
        sum[i] = hn::MulAdd(sum[i], square[i], hn::Set(df, ring.arctangent[0]));
        out.magnitude[i] =
            hn::Sqrt(hn::MulAdd(gradient.along[i], gradient.along[i], hn::Mul(gradient.across[i], gradient.across[i])));
        out.position[i] = hn::MulAdd(sum[i], ratio[i], axis[i]);
    }
}

// Calls body(x, polar) for several vectors of pixels at a time.
template <class Gradients, class Body>
HWY_INLINE void for_polar(std::int64_t pixels, const HogRing& ring, Gradients&& gradient_at, Body&& body) {
    const auto step = static_cast<std::int64_t>(hn::Lanes(D16()));
    for (std::int64_t x = 0; x < pixels; x += abreast / 2 * step) {
        Directed gradient;
        for (int i = 0; i < abreast; i += 2) {
            const auto there = turned(gradient_at(x + i / 2 * step));
            halve(there.along, gradient.along + i);
            halve(there.across, gradient.across + i);
            MF steep[2];
            halve(there.steep, steep);
            for (int half = 0; half < 2; ++half)
                gradient.axis[i + half] = hn::IfThenElseZero(steep[half], hn::Set(DF(), ring.quarter));
        }
        Polar found;
        polar(gradient, ring, found);
        body(x, found);
    }
}

// A slot and two shares. The first share of slot k belongs to bin k - 1 and the second to bin k, so the ring is closed
// once per histogram instead of once per pixel.
struct Vote {
    V32 slot;
    VF first, second;
};

// Splits a magnitude between the two nearest bins. Splits the position into a whole number and a fraction without a
// conversion instruction: adding 2^23 + 2^22 rounds it in the float's last bits.
HWY_INLINE Vote vote_of(VF magnitude, VF position, const HogRing& ring) {
    const DF df;
    const D32 d32;
    const hn::RebindToUnsigned<D32> du;
    const auto integers = hn::Set(df, 12582912.0f);  // 2^23 + 2^22
    // The last bit of the sum is worth 1, so the sum contains the nearest whole number twice: in its bits, and as the
    // float's value.
    const auto whole = hn::Add(position, integers);
    const auto bits = hn::BitCast(du, whole), none = hn::BitCast(du, integers);
    const auto share = hn::Add(hn::Sub(position, hn::Sub(whole, integers)), hn::Set(df, 0.5f));
    const auto second = hn::Mul(magnitude, share);
    // As an unsigned number, a negative slot is larger than any other, so the minimum selects the wrapped slot.
    const auto above = hn::Sub(bits, hn::Sub(none, hn::Set(du, static_cast<std::uint32_t>(ring.bins))));
    return {hn::BitCast(d32, hn::Min(hn::Sub(bits, none), above)), hn::Sub(magnitude, second), second};
}

}  // namespace hog_gradients
}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

// Computes histograms of a row of cells whose side is a multiple of 8, from the gradients above.

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace hog_gradients {

// Computes the histograms of neighbouring cells without a memory access per vote. A bin's share of a pixel is a
// tent function of its position: 1 minus the distance from the bin's centre, or 0. A tent is the second
// difference of hinges, max(position, centre), over consecutive centres:
//
//     hinge:  ___/      tent:  _/\_      tent(k) = hinge(k-1) - 2 hinge(k) + hinge(k+1)
//
// So the pixels contribute only to sums of magnitude times hinge, which take two instructions per centre. For a centre
// beyond all positions, a hinge is the position itself, or the centre.
//
// The difference of a hinge's sum from one centre to the next is at most the sum of the magnitudes, while the hinges'
// own sums are several times larger. To keep precision, differences are computed from sums over a few pixels and then
// added up. Positions are relative to the middle of their range, which also keeps hinges small. Bins at both ends of
// the range have two tents each.
//
// A vector of floats holds every other pixel of a vector of 16-bit numbers, times 2^16; a shift or a mask extracts the
// pixels. Four lanes of two such vectors therefore form a group of eight pixels.
class HingeSums {
public:
    static constexpr int most_bins = 9, rows = 8, room_px = 128 + static_cast<int>(hn::MaxLanes(D16()));

    // Returns true if histograms of `bins` bins and cells of side `cell` can be computed this way.
    static constexpr bool suits(int cell, int bins) { return cell % group_px == 0 && bins <= most_bins; }

    HingeSums(int cell, const HogRing& ring) : ring_(ring), groups_(cell / group_px) {
        const float lowest = -ring.quarter / 2;  // lowest position
        middle_ = lowest + ring.whole / 2;
        first_ = static_cast<int>(std::floor(lowest - 0.5f)) + 1;  // bin of the first centre above it
        for (int hinge = 0; hinge < hinges; ++hinge) centres_[hinge] = centre(hinge);
        last_ = centre(hinges);
        std::fill_n(own_, room, nothing);
        std::fill_n(again_, room, nothing);
        for (int tent = 0; tent < ring.bins + 2; ++tent) {
            // GCC 12 with UBSan computes a wrong index if a condition chooses the array, but not if it chooses
            // a pointer.
            std::int32_t* const of_bins = tent < ring.bins ? own_ : again_;
            of_bins[(first_ - 1 + tent + 2 * ring.bins) % ring.bins] = tent;
        }
        flat_ = upper_half(-middle_);
        steep_ = upper_half(ring.quarter - middle_);
    }

    // Stores the gradients of one vector of pixels in one of `rows` rows.
    HWY_INLINE void put(int row, int x, const Turned& gradient) {
        const D16 d16;
        hn::Store(gradient.along, d16, along_[row] + x);
        hn::Store(gradient.across, d16, across_[row] + x);
        hn::Store(hn::IfThenElse(gradient.steep, hn::Set(d16, steep_), hn::Set(d16, flat_)), d16, axis_[row] + x);
    }

    // Adds `pixels` pixels of each of `rows` rows. `first` is true for the first rows of their cells.
    HWY_INLINE void add(int pixels, bool first) {
        for (int x = 0; x < pixels; x += column_px) add_column(x, first);
    }

    // Writes the histograms of the first `count` cells.
    HWY_INLINE void finish(int count, float* out) {
        // Each step handles all cells before the next step starts, because reading data at a different width right
        // after it was written stalls (failed store forwarding).
        for (int column = 0; column * column_groups < count * groups_; ++column) put_tents(column);
        for (int cell = 0; cell < count; ++cell) {
            auto* const tents = tents_[cell * groups_];
            for (int group = 1; group < groups_; ++group)
                for (int i = 0; i < room; ++i) tents[i] += tents_[cell * groups_ + group][i];
            put_cell(tents, out + cell * ring_.bins);
        }
    }

private:
    static constexpr int group_px = 8, hinges = most_bins, room = 16;
    static constexpr int column_px = static_cast<int>(hn::MaxLanes(D16())), column_groups = column_px / group_px;
    // `nothing` is a tent with the value 0.
    static constexpr int tents_each = 12, fours = tents_each / 4, nothing = tents_each - 1;
    static_assert(hinges + 2 == nothing);

    // Returns the centre of a hinge, relative to the middle of the range.
    float centre(int hinge) const { return static_cast<float>(first_ + hinge) + 0.5f - middle_; }

    // Returns the upper half of a float, which represents the whole number if it has few digits.
    static std::int16_t upper_half(float value) {
        return static_cast<std::int16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
    }

    // Returns the even lanes of a vector, times 2^16 or as the upper bits of a float.
    static HWY_INLINE V32 even(V16 values) { return hn::ShiftLeft<16>(hn::BitCast(D32(), values)); }
    // Returns the odd lanes without shifting them down, so that they remain 2^16 times as large.
    static HWY_INLINE V32 odd(V16 values) {
        return hn::And(hn::BitCast(D32(), values), hn::Set(D32(), static_cast<std::int32_t>(0xFFFF0000)));
    }

    static HWY_INLINE void split(V16 values, VF* to) {
        to[0] = hn::ConvertTo(DF(), even(values));
        to[1] = hn::ConvertTo(DF(), odd(values));
    }

    // Adds the pixels of one vector of 16 bits per row.
    HWY_INLINE void add_column(int x, bool first) {
        const DF df;
        const D16 d16;
        Polar found[2 * rows / abreast];
        for (int row = 0; row < rows; row += abreast / 2) {
            Directed gradient;
            for (int i = 0; i < abreast; i += 2) {
                const int y = row + i / 2;
                split(hn::Load(d16, along_[y] + x), gradient.along + i);
                split(hn::Load(d16, across_[y] + x), gradient.across + i);
                const auto axis = hn::Load(d16, axis_[y] + x);
                gradient.axis[i] = hn::BitCast(df, even(axis));
                gradient.axis[i + 1] = hn::BitCast(df, odd(axis));
            }
            polar(gradient, ring_, found[2 * row / abreast]);
        }
        VF rises[hinges + 1], all = hn::Zero(df);
        for (auto& rise : rises) rise = hn::Zero(df);
        for (const auto& pixels : found) add_rises(pixels, rises, all);
        VF tents[tents_each];
        tents[0] = rises[0];
#pragma GCC unroll 16
        for (int hinge = 1; hinge <= hinges; ++hinge) tents[hinge] = hn::Sub(rises[hinge], rises[hinge - 1]);
        tents[hinges + 1] = hn::Sub(all, rises[hinges]);
        tents[nothing] = hn::Zero(df);
        auto* const to = sums_[x / column_px];
        for (int i = 0; i < fours; ++i) {
            const auto own = sums_of_four(tents + 4 * i);
            to[i] = first ? own : hn::Add(own, to[i]);
        }
    }

    // Returns, in each group of four lanes, the sums of that group in each of four vectors.
    static HWY_INLINE VF sums_of_four(const VF* v) {
        const DF df;
        const hn::Repartition<double, DF> d64;
        const auto twos = [&](VF a, VF b) HWY_ATTR {
            return hn::Add(hn::InterleaveLower(df, a, b), hn::InterleaveUpper(df, a, b));
        };
        const auto a = hn::BitCast(d64, twos(v[0], v[1])), b = hn::BitCast(d64, twos(v[2], v[3]));
        return hn::Add(hn::BitCast(df, hn::InterleaveLower(d64, a, b)),
                       hn::BitCast(df, hn::InterleaveUpper(d64, a, b)));
    }

    // Adds the differences of consecutive hinges; each is at most the magnitude.
    HWY_INLINE void add_rises(const Polar& pixels, VF* rises, VF& all) const {
        const DF df;
        const auto* const m = pixels.magnitude;
        const auto sum_of = [&](auto&& hinge_of) HWY_ATTR {
            auto sum = hn::Mul(m[0], hinge_of(pixels.position[0]));
            for (int i = 1; i < abreast; ++i) sum = hn::MulAdd(m[i], hinge_of(pixels.position[i]), sum);
            return sum;
        };
        auto before = sum_of([](VF position) HWY_ATTR { return position; });
#pragma GCC unroll 16
        for (int hinge = 0; hinge < hinges; ++hinge) {
            const auto here =
                sum_of([&](VF position) HWY_ATTR { return hn::Max(position, hn::Set(df, centres_[hinge])); });
            rises[hinge] = hn::Add(rises[hinge], hn::Sub(here, before));
            before = here;
        }
        const auto own = hn::Add(hn::Add(m[0], m[1]), hn::Add(m[2], m[3]));
        rises[hinges] = hn::Add(rises[hinges], hn::MulSub(own, hn::Set(df, last_), before));
        all = hn::Add(all, own);
    }

    // Computes the tents of a column's groups, in the units of the gradients.
    HWY_INLINE void put_tents(int column) {
        const DF df;
        VF tents[fours];
        // Rounding can make a value negative that should be 0.
        for (int i = 0; i < fours; ++i)
            tents[i] = hn::Max(hn::Mul(sums_[column][i], hn::Set(df, 1.0f / 65536)), hn::Zero(df));
        put_groups(tents, tents_ + column * column_groups);
    }

    // Transposes tents so that the tents of each group are contiguous.
    static HWY_INLINE void put_groups(const VF* tents, float (*to)[room]) {
        const DF df;
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
        constexpr int lower = 0x44, upper = 0xEE, even = 0x88, odd = 0xDD;  // select blocks of two vectors
        const auto zero = hn::Zero(df).raw, a = tents[0].raw, b = tents[1].raw, c = tents[2].raw;
        const auto ab = _mm512_shuffle_f32x4(a, b, lower), cz = _mm512_shuffle_f32x4(c, zero, lower),
                   ab_on = _mm512_shuffle_f32x4(a, b, upper), cz_on = _mm512_shuffle_f32x4(c, zero, upper);
        hn::Store(VF{_mm512_shuffle_f32x4(ab, cz, even)}, df, to[0]);
        hn::Store(VF{_mm512_shuffle_f32x4(ab, cz, odd)}, df, to[1]);
        hn::Store(VF{_mm512_shuffle_f32x4(ab_on, cz_on, even)}, df, to[2]);
        hn::Store(VF{_mm512_shuffle_f32x4(ab_on, cz_on, odd)}, df, to[3]);
#elif HWY_TARGET == HWY_AVX2
        hn::Store(hn::ConcatLowerLower(df, tents[1], tents[0]), df, to[0]);
        hn::Store(hn::ConcatUpperUpper(df, tents[1], tents[0]), df, to[1]);
        hn::Store(hn::ConcatLowerLower(df, hn::Zero(df), tents[2]), df, to[0] + 8);
        hn::Store(hn::ConcatUpperUpper(df, hn::Zero(df), tents[2]), df, to[1] + 8);
#else
        for (int i = 0; i < fours; ++i) hn::Store(tents[i], df, to[0] + 4 * i);
#endif
    }

    // Adds the tents of each bin and writes one histogram.
    HWY_INLINE void put_cell(const float* tents, float* out) const {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
        const DF df;
        const auto all = hn::Load(df, tents);
        hn::BlendedStore(hn::Add(hn::TableLookupLanes(all, hn::SetTableIndices(df, own_)),
                                 hn::TableLookupLanes(all, hn::SetTableIndices(df, again_))),
                         hn::FirstN(df, static_cast<std::size_t>(ring_.bins)), df, out);
#else
        for (int bin = 0; bin < ring_.bins; ++bin) out[bin] = tents[own_[bin]] + tents[again_[bin]];
#endif
    }

    const HogRing& ring_;
    const int groups_;
    int first_ = 0;
    float middle_ = 0;
    std::int16_t flat_ = 0, steep_ = 0;  // upper halves of the axes' positions
    float centres_[hinges], last_ = 0;
    // The one or two tents of each bin; `nothing` if there is no second tent.
    HWY_ALIGN std::int32_t own_[room], again_[room];
    HWY_ALIGN std::int16_t along_[rows][room_px];
    HWY_ALIGN std::int16_t across_[rows][room_px];
    HWY_ALIGN std::int16_t axis_[rows][room_px];
    VF sums_[room_px / column_px][fours];
    HWY_ALIGN float tents_[room_px / group_px][room] = {};
};

}  // namespace hog_gradients
}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FRAMEWIRE_HOG_HOG_INL_HPP
