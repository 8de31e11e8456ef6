// SIMD version of magnitude_context(), for several pixels at once. Include it inside a Highway target namespace, after
// <hwy/highway.h>.

#if defined(FRAMEWIRE_CODEC_SUB_BLOCK_CONTEXTS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef FRAMEWIRE_CODEC_SUB_BLOCK_CONTEXTS_INL_HPP
#undef FRAMEWIRE_CODEC_SUB_BLOCK_CONTEXTS_INL_HPP
#else
#define FRAMEWIRE_CODEC_SUB_BLOCK_CONTEXTS_INL_HPP
#endif

#include "framewire/codec/sub_block_contexts.hpp"

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace framewire::codec::HWY_NAMESPACE {
namespace step_vectors {

namespace hn = hwy::HWY_NAMESPACE;

/// Returns 1 in the lanes of `mask` and 0 in the others.
template <class D, class Mask>
HWY_INLINE hn::VFromD<D> one_if(D d, Mask mask) {
    return hn::IfThenElseZero(mask, hn::Set(d, 1));
}

/// Steps of one channel of several pixels and of their neighbours, in 16-bit lanes.
template <class V>
struct Around {
    V here, left, above, corner;
};
/// Selects `yes` in the lanes of `mask` and `no` in the others.
template <class Mask, class V>
HWY_INLINE Around<V> where(Mask mask, const Around<V>& yes, const Around<V>& no) {
    return {hn::IfThenElse(mask, yes.here, no.here), hn::IfThenElse(mask, yes.left, no.left),
            hn::IfThenElse(mask, yes.above, no.above), hn::IfThenElse(mask, yes.corner, no.corner)};
}

/// Result of expectation(): that of magnitude_context() before the steps of the previously coded channel are added. The
/// previous channel counts only in lanes in which it goes in the same direction.
template <class V>
struct Expectation {
    V expected;  ///< expected magnitude; in lanes of `same`, the amount to add to the magnitude of the previous channel
    V support;   ///< the support u of format.md, 0 to 9
};
/// Computes the expectation of one channel. `down`: all bits set in lanes in which the channel goes down. `same`: lanes
/// in which the previously coded channel goes in the same direction. The members `here` of `of` and `before` are not
/// read.
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
    const auto predicted_support =
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
    const auto support = hn::IfThenElse(same, predicted_support,
                                        hn::IfThenElse(both, held_support, hn::IfThenElse(any, number(8), number(9))));
    return {expected, support};
}

}  // namespace step_vectors
}  // namespace framewire::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FRAMEWIRE_CODEC_SUB_BLOCK_CONTEXTS_INL_HPP
