// What is expected of magnitudes, of several pixels at once: include inside a SIMD source, after <hwy/highway.h>.

#if defined(FRAMEWIRE_DELTA_STEP_VECTORS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef FRAMEWIRE_DELTA_STEP_VECTORS_INL_HPP
#undef FRAMEWIRE_DELTA_STEP_VECTORS_INL_HPP
#else
#define FRAMEWIRE_DELTA_STEP_VECTORS_INL_HPP
#endif

#include "framewire/delta/blocks/step_formulas.hpp"

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace framewire::delta::HWY_NAMESPACE {
namespace step_vectors {

namespace hn = hwy::HWY_NAMESPACE;

template <class D, class Mask>
HWY_INLINE hn::VFromD<D> one_if(D d, Mask mask) {
    return hn::IfThenElseZero(mask, hn::Set(d, 1));
}

/// A channel's steps of some pixels, of 16 bits each, and what is around them.
template <class V>
struct Around {
    V here, left, above, corner;
};
template <class Mask, class V>
HWY_INLINE Around<V> where(Mask mask, const Around<V>& yes, const Around<V>& no) {
    return {hn::IfThenElse(mask, yes.here, no.here), hn::IfThenElse(mask, yes.left, no.left),
            hn::IfThenElse(mask, yes.above, no.above), hn::IfThenElse(mask, yes.corner, no.corner)};
}

/// magnitude_context() without the steps of the channel before, which add to what is expected where that goes the same
/// way. All are at least 1 then.
template <class V>
struct Expectation {
    V expected;  ///< or where the channel before goes the same way, how much more than that
    V support;
};
/// `down`: all bits where the channel goes down. `same`: where the one before goes the same way. Of neither what is
/// `here` counts.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE Expectation<V> expectation(D d, V down, const Around<V>& of, const Around<V>& before, hn::Mask<D> same) {
    const auto zero = hn::Zero(d), one = hn::Set(d, 1);
    const auto number = [&](int value) HWY_ATTR { return hn::Set(d, static_cast<std::int16_t>(value)); };
    const auto signed_as_here = [&](V v) HWY_ATTR { return hn::Sub(hn::Xor(v, down), down); };
    const auto left = signed_as_here(of.left), above = signed_as_here(of.above), corner = signed_as_here(of.corner);
    const auto left_before = signed_as_here(before.left), above_before = signed_as_here(before.above);
    const auto has_left = hn::Gt(left, zero), has_above = hn::Gt(above, zero);

    const auto use_left = hn::And(has_left, hn::Gt(left_before, zero));
    const auto use_above = hn::And(has_above, hn::Gt(above_before, zero));
    const auto use_both = hn::And(use_left, use_above);
    const auto by_left = hn::Sub(left, left_before), by_above = hn::Sub(above, above_before);
    auto more = hn::Add(hn::IfThenElseZero(use_left, by_left), hn::IfThenElseZero(use_above, by_above));
    const auto half = hn::ShiftRight<1>(hn::Add(more, one_if(d, hn::Lt(more, zero))));
    more = hn::IfThenElse(use_both, half, more);
    auto apart = hn::Abs(hn::Sub(by_left, by_above));
    const auto foretold_support =
        hn::IfThenElse(use_both, hn::Add(one_if(d, hn::Gt(apart, number(2))), one_if(d, hn::Gt(apart, number(7)))),
                       hn::IfThenElse(hn::Or(use_left, use_above), number(3), number(4)));

    const auto sum = hn::Add(left, above), larger = hn::Max(left, above);
    const auto straight = hn::IfThenElse(hn::Gt(corner, zero), hn::Sub(sum, corner), hn::ShiftRight<1>(sum));
    const auto held = hn::Min(hn::Max(straight, hn::Min(left, above)), larger);
    apart = hn::Abs(hn::Sub(left, above));
    const auto held_support =
        hn::Add(number(5), hn::Add(one_if(d, hn::Gt(apart, number(3))), one_if(d, hn::Gt(apart, number(15)))));

    const auto both = hn::And(has_left, has_above), any = hn::Or(has_left, has_above);
    const auto expected = hn::IfThenElse(same, more, hn::IfThenElse(both, held, hn::IfThenElse(any, larger, one)));
    const auto support = hn::IfThenElse(same, foretold_support,
                                        hn::IfThenElse(both, held_support, hn::IfThenElse(any, number(8), number(9))));
    return {expected, support};
}

}  // namespace step_vectors
}  // namespace framewire::delta::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
