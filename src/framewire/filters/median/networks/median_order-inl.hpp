// The order of bytes in vectors for the median's networks. Compiled once per instruction set: include it inside a SIMD
// source, after <hwy/highway.h>; the include guard toggles accordingly.

#if defined(FRAMEWIRE_MEDIAN_ORDER_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef FRAMEWIRE_MEDIAN_ORDER_INL_HPP
#undef FRAMEWIRE_MEDIAN_ORDER_INL_HPP
#else
#define FRAMEWIRE_MEDIAN_ORDER_INL_HPP
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {

/// Minima and maxima of vectors, as the generated networks call them.
struct VectorOrder {
    /// The smaller value in each lane.
    template <class V>
    static HWY_INLINE V lower(V a, V b) {
        return hwy::HWY_NAMESPACE::Min(a, b);
    }
    /// The larger value in each lane.
    template <class V>
    static HWY_INLINE V upper(V a, V b) {
        return hwy::HWY_NAMESPACE::Max(a, b);
    }
    /// The larger value; vectors gain nothing from knowing the smaller one.
    template <class V>
    static HWY_INLINE V upper(V a, V b, V /*lower*/) {
        return hwy::HWY_NAMESPACE::Max(a, b);
    }
};

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
