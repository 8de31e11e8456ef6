// Differences of pixels from the previous frame, for heatmap and noise. Compiled for each instruction set: include it
// inside a SIMD source, after <hwy/highway.h>; the include guard toggles accordingly.

#if defined(FRAMEWIRE_FILTERS_POINTWISE_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef FRAMEWIRE_FILTERS_POINTWISE_INL_HPP
#undef FRAMEWIRE_FILTERS_POINTWISE_INL_HPP
#else
#define FRAMEWIRE_FILTERS_POINTWISE_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {

/// Returns |a - b| for each byte.
template <class V8>
HWY_INLINE V8 absolute_difference(V8 a, V8 b) {
    namespace hn = hwy::HWY_NAMESPACE;
    return hn::Or(hn::SaturatedSub(a, b), hn::SaturatedSub(b, a));
}

/// Computes the absolute differences of the three channels, for as many BGR pixels as `d8` has lanes.
template <class D8>
HWY_INLINE void bgr_differences(D8 d8, const std::uint8_t* in, const std::uint8_t* previous,
                                hwy::HWY_NAMESPACE::VFromD<D8>& b, hwy::HWY_NAMESPACE::VFromD<D8>& g,
                                hwy::HWY_NAMESPACE::VFromD<D8>& r) {
    namespace hn = hwy::HWY_NAMESPACE;
    const auto step = static_cast<std::int64_t>(hn::Lanes(d8));
    // Differences of whole vectors go through the stack, so that one image has to be deinterleaved instead of two.
    HWY_ALIGN std::uint8_t differences[3 * HWY_MAX_BYTES];
    for (std::int64_t third = 0; third < 3; ++third)
        hn::Store(absolute_difference(hn::LoadU(d8, in + third * step), hn::LoadU(d8, previous + third * step)), d8,
                  differences + third * step);
    hn::LoadInterleaved3(d8, differences, b, g, r);
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FRAMEWIRE_FILTERS_POINTWISE_INL_HPP
