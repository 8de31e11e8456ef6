// The order of bytes for the median's networks, compiled once for each instruction set: include inside a SIMD source,
// after <hwy/highway.h>, without an include guard of the usual kind.

#if defined(FRAMEWIRE_MEDIAN_ORDER_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef FRAMEWIRE_MEDIAN_ORDER_INL_HPP
#undef FRAMEWIRE_MEDIAN_ORDER_INL_HPP
#else
#define FRAMEWIRE_MEDIAN_ORDER_INL_HPP
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {

struct VectorOrder {
    template <class V>
    static HWY_INLINE V lower(V a, V b) {
        return hwy::HWY_NAMESPACE::Min(a, b);
    }
    template <class V>
    static HWY_INLINE V upper(V a, V b) {
        return hwy::HWY_NAMESPACE::Max(a, b);
    }
    template <class V>
    static HWY_INLINE V upper(V a, V b, V /*lower*/) {
        return hwy::HWY_NAMESPACE::Max(a, b);
    }
};

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
