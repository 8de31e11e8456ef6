// The gradients of a row of pixels on the CPU, and their votes: include inside a SIMD source, after <hwy/highway.h>.

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

struct Polar {
    VF magnitude, position;
};

// Magnitude and position on the ring. The vote of a position changes steadily all around, so that a rounding that moves
// one over a bin's edge does not matter.
HWY_INLINE Polar polar(VF gx, VF gy, const HogRing& ring) {
    const DF df;
    const auto width = hn::Abs(gx), height = hn::Abs(gy), longer = hn::Max(width, height);
    // Where both are 0 the angle is any, here 0.
    const auto ratio = hn::Div(hn::Min(width, height), hn::Max(longer, hn::Set(df, 1.0f)));
    const auto square = hn::Mul(ratio, ratio);
    auto stretch = hn::Set(df, hog_square_root[5]);
    for (int i = 4; i >= 0; --i) stretch = hn::MulAdd(stretch, square, hn::Set(df, hog_square_root[i]));
    auto sum = hn::Set(df, ring.arctangent[6]);
    for (int i = 5; i >= 0; --i) sum = hn::MulAdd(sum, square, hn::Set(df, ring.arctangent[i]));
    auto position = hn::Mul(sum, ratio);
    position = hn::IfThenElse(hn::Gt(height, width), hn::Sub(hn::Set(df, ring.quarter), position), position);
    position = hn::IfThenElse(hn::Lt(gx, hn::Zero(df)), hn::Sub(hn::Set(df, ring.half), position), position);
    position = hn::IfThenElse(hn::Lt(gy, hn::Zero(df)), hn::Sub(hn::Set(df, ring.whole), position), position);
    return {hn::Mul(longer, stretch), position};
}

struct Gradient {
    V16 x, y;
};

// Sobel of as many pixels as a vector of 16 bits has lanes.
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

// Central differences of as many.
HWY_INLINE Gradient central(const std::uint8_t* above, const std::uint8_t* row, const std::uint8_t* below) {
    const D16 d16;
    const hn::Rebind<std::uint8_t, D16> d8;
    const auto load = [&](const std::uint8_t* at) HWY_ATTR { return hn::PromoteTo(d16, hn::LoadU(d8, at)); };
    return {hn::Sub(load(row + 1), load(row - 1)), hn::Sub(load(below), load(above))};
}

// Calls body(x, polar) for the two halves of each vector of pixels.
template <class Gradients, class Body>
HWY_INLINE void for_polar(std::int64_t pixels, const HogRing& ring, Gradients&& gradient_at, Body&& body) {
    const D16 d16;
    const D32 d32;
    const DF df;
    const hn::Half<D16> half;
    const auto step = static_cast<std::int64_t>(hn::Lanes(d16));
    const auto to_float = [&](hn::VFromD<hn::Half<D16>> v)
                              HWY_ATTR { return hn::ConvertTo(df, hn::PromoteTo(d32, v)); };
    for (std::int64_t x = 0; x < pixels; x += step) {
        const auto gradient = gradient_at(x);
        body(x, polar(to_float(hn::LowerHalf(half, gradient.x)), to_float(hn::LowerHalf(half, gradient.y)), ring));
        body(x + step / 2,
             polar(to_float(hn::UpperHalf(half, gradient.x)), to_float(hn::UpperHalf(half, gradient.y)), ring));
    }
}

// A slot and two shares: slot k's first share belongs to bin k - 1, its second to bin k, so that the ring closes once a
// histogram instead of once a pixel.
struct Vote {
    V32 slot;
    VF first, second;
};

HWY_INLINE Vote vote_of(const Polar& p) {
    const DF df;
    const D32 d32;
    const auto integers = hn::Set(df, 12582912.0f);  // 2^23 + 2^22
    // The sum's last bit is worth 1, so it holds the nearest whole number twice: as bits, and as a float.
    const auto whole = hn::Add(p.position, integers);
    const auto slot = hn::Sub(hn::BitCast(d32, whole), hn::BitCast(d32, integers));
    const auto share = hn::Add(hn::Sub(p.position, hn::Sub(whole, integers)), hn::Set(df, 0.5f));
    const auto second = hn::Mul(p.magnitude, share);
    return {slot, hn::Sub(p.magnitude, second), second};
}

}  // namespace hog_gradients
}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
