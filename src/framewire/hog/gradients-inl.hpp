// Gradients of a row of pixels on the CPU, and their votes. Include it inside a SIMD source, after
// <hwy/highway.h>.
//
// A pixel's direction is a position on a ring of bins, in units of bins (HogRing), and its magnitude is split between
// the two nearest bin centres:
//
//     sobel() or central() -> turned() -> polar() -> vote_of()
//     gx, gy                  along,      magnitude, slot and the
//                             across      position   shares of two bins

#if defined(FRAMEWIRE_HOG_GRADIENTS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef FRAMEWIRE_HOG_GRADIENTS_INL_HPP
#undef FRAMEWIRE_HOG_GRADIENTS_INL_HPP
#else
#define FRAMEWIRE_HOG_GRADIENTS_INL_HPP
#endif

#include "framewire/hog/hog_arithmetic.hpp"

#include <hwy/highway.h>

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
using MF = hn::MFromD<DF>;

// Gradient of a vector of pixels.
struct Gradient {
    V16 x, y;
};

// Sobel gradients (3x3) of as many pixels as a vector of 16 bits has lanes.
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

// Central differences of as many pixels.
HWY_INLINE Gradient central(const std::uint8_t* above, const std::uint8_t* row, const std::uint8_t* below) {
    const D16 d16;
    const hn::Rebind<std::uint8_t, D16> d8;
    const auto load = [&](const std::uint8_t* at) HWY_ATTR { return hn::PromoteTo(d16, hn::LoadU(d8, at)); };
    return {hn::Sub(load(row + 1), load(row - 1)), hn::Sub(load(below), load(above))};
}

// A gradient turned to within 45 degrees of an axis: its component `along` the axis, and the one `across`, to
// the left of it. Directions at both ends of an axis become the same quotient, so one signed division gives the
// angle from the axis.
struct Turned {
    V16 along, across;
    hn::MFromD<D16> steep;  // true where the axis is that of y
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

// The same for a mask; AVX-512 masks are split by a shift.
HWY_INLINE void halve(hn::MFromD<D16> mask, MF* to) {
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

// Number of vectors that pass through each step together. One alone would wait for its own results.
constexpr int abreast = 4;

// Turned gradients, and the position of each one's axis on the ring.
struct Directed {
    VF along[abreast], across[abreast], axis[abreast];
};

// Result of polar() for several vectors.
struct Polar {
    // From -1/8 turn (before the first axis), or -1/4 with unsigned gradients.
    VF magnitude[abreast], position[abreast];
};

// Computes magnitudes and positions on the ring; positions continue below that of the first axis. Votes change
// continuously all around the ring, so a rounding that moves a position over the edge of a bin does no harm.
// Gradients may be in any unit; magnitudes have the same.
HWY_INLINE void polar(const Directed& gradient, const HogRing& ring, Polar& out) {
    const DF df;
    VF ratio[abreast], square[abreast], sum[abreast], axis[abreast];
    for (int i = 0; i < abreast; ++i) {
        // If both components are 0, any angle is right; take 0.
        const auto there = hn::Ne(gradient.along[i], hn::Zero(df));
        ratio[i] = hn::IfThenElseZero(there, hn::Div(gradient.across[i], gradient.along[i]));
        axis[i] = gradient.axis[i];
    }
    if (ring.half < ring.whole)
        for (int i = 0; i < abreast; ++i)
            axis[i] = hn::IfThenElse(hn::Lt(gradient.along[i], hn::Zero(df)), hn::Add(axis[i], hn::Set(df, ring.half)),
                                     axis[i]);
    // The arctangent's polynomial in the square of the ratio (Horner's rule).
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

// A slot and two shares. The first share of slot k belongs to bin k - 1, its second to bin k, so the ring is
// closed once per histogram instead of once per pixel.
struct Vote {
    V32 slot;
    VF first, second;
};

// Splits a magnitude between the two nearest bins. The position is converted to a whole number and a fraction
// without a conversion instruction: adding 2^23 + 2^22 rounds it in the float's last bits.
HWY_INLINE Vote vote_of(VF magnitude, VF position, const HogRing& ring) {
    const DF df;
    const D32 d32;
    const hn::RebindToUnsigned<D32> du;
    const auto integers = hn::Set(df, 12582912.0f);  // 2^23 + 2^22
    // The last bit of the sum is worth 1, so the sum contains the nearest whole number twice: in its bits, and
    // as a float.
    const auto whole = hn::Add(position, integers);
    const auto bits = hn::BitCast(du, whole), none = hn::BitCast(du, integers);
    const auto share = hn::Add(hn::Sub(position, hn::Sub(whole, integers)), hn::Set(df, 0.5f));
    const auto second = hn::Mul(magnitude, share);
    // As an unsigned number a negative slot is larger than any other, so the minimum selects the wrapped one.
    const auto above = hn::Sub(bits, hn::Sub(none, hn::Set(du, static_cast<std::uint32_t>(ring.bins))));
    return {hn::BitCast(d32, hn::Min(hn::Sub(bits, none), above)), hn::Sub(magnitude, second), second};
}

}  // namespace hog_gradients
}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
