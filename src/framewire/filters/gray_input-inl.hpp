// Gray values in vectors, for every filter that starts from them. Compiled once per instruction set: include it inside
// a SIMD source, after <hwy/highway.h>; the include guard toggles accordingly.

#if defined(FRAMEWIRE_FILTERS_GRAY_INPUT_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef FRAMEWIRE_FILTERS_GRAY_INPUT_INL_HPP
#undef FRAMEWIRE_FILTERS_GRAY_INPUT_INL_HPP
#else
#define FRAMEWIRE_FILTERS_GRAY_INPUT_INL_HPP
#endif

#include "framewire/core/simd-inl.hpp"
#include "framewire/filters/gray_input.hpp"

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {

/// Returns the gray value of one BGR pixel.
HWY_INLINE std::uint8_t gray_of_pixel(const std::uint8_t* bgr, const GrayWeights& weights) {
    const int sum = weights.b * bgr[0] + weights.g * bgr[1] + weights.r * bgr[2] + weights.rounding;
    return static_cast<std::uint8_t>(sum >> gray_shift);
}

/// Converts BGR pixels to a vector of gray values. Each 16-byte block takes four pixels:
///
///   loaded      b0 g0 r0  b1 g1 r1  b2 g2 r2  b3 g3 r3  (4 bytes unused)
///   pick_bg_    b0 g0 | b1 g1 | b2 g2 | b3 g3           as 16-bit numbers
///   pick_r_     r0 0  | r1 0  | r2 0  | r3 0            as 16-bit numbers
///
/// One multiply-add of pairs then weighs B and G, a second one R, as in OpenCV's own loop.
template <class D8>
class GrayOfBgr {
    using D16 = hwy::HWY_NAMESPACE::Repartition<std::int16_t, D8>;
    using D32 = hwy::HWY_NAMESPACE::Repartition<std::int32_t, D8>;
    using V8 = hwy::HWY_NAMESPACE::VFromD<D8>;
    using V16 = hwy::HWY_NAMESPACE::VFromD<D16>;
    using V32 = hwy::HWY_NAMESPACE::VFromD<D32>;

public:
    /// Loads the shuffles and weights into registers.
    HWY_INLINE GrayOfBgr(D8 d8, const GrayWeights& weights) : spread_(blocks_of_12_bytes(d8)) {
        namespace hn = hwy::HWY_NAMESPACE;
        HWY_ALIGN static constexpr std::uint8_t bg_bytes[16] = {0, 255, 1, 255, 3, 255, 4,  255,
                                                                6, 255, 7, 255, 9, 255, 10, 255};
        HWY_ALIGN static constexpr std::uint8_t r_bytes[16] = {2, 255, 255, 255, 5,  255, 255, 255,
                                                               8, 255, 255, 255, 11, 255, 255, 255};
        pick_bg_ = hn::LoadDup128(d8, bg_bytes);
        pick_r_ = hn::LoadDup128(d8, r_bytes);
        const auto bg = static_cast<std::int32_t>(static_cast<std::uint16_t>(weights.b)) |
                        (static_cast<std::int32_t>(weights.g) << 16);
        weight_bg_ = hn::BitCast(D16(), hn::Set(D32(), bg));
        weight_r_ = hn::BitCast(D16(), hn::Set(D32(), static_cast<std::int32_t>(weights.r)));
        rounding_ = hn::Set(D32(), weights.rounding);
    }

    /// Returns the number of pixels per call, one per lane.
    static HWY_INLINE std::int64_t pixels() { return static_cast<std::int64_t>(hwy::HWY_NAMESPACE::Lanes(D8())); }
    /// Returns the number of pixels that a call may read. Each of its four loads reads a whole vector but uses only 12
    /// of every 16 bytes.
    static HWY_INLINE std::int64_t readable_px() { return pixels() + (pixels() / 4 + 2) / 3; }

    /// Returns the gray values of pixels() pixels starting at `bgr`.
    HWY_INLINE V8 operator()(const std::uint8_t* bgr) const {
        const auto quarter_bytes = 3 * pixels() / 4;
        return narrow_to_bytes(D8(), quarter(bgr), quarter(bgr + quarter_bytes), quarter(bgr + 2 * quarter_bytes),
                               quarter(bgr + 3 * quarter_bytes));
    }

private:
    // Returns a quarter of the result, in 32-bit lanes.
    HWY_INLINE V32 quarter(const std::uint8_t* bgr) const {
        namespace hn = hwy::HWY_NAMESPACE;
        const auto bytes = spread_(hn::LoadU(D8(), bgr));
        const auto bg = hn::BitCast(D16(), hn::TableLookupBytesOr0(bytes, pick_bg_));
        const auto r = hn::BitCast(D16(), hn::TableLookupBytesOr0(bytes, pick_r_));
        const auto sum = hn::Add(multiply_add_pairs(D32(), bg, weight_bg_), multiply_add_pairs(D32(), r, weight_r_));
        return hn::ShiftRight<gray_shift>(hn::Add(sum, rounding_));
    }

    decltype(blocks_of_12_bytes(D8())) spread_;
    V8 pick_bg_, pick_r_;
    V16 weight_bg_, weight_r_;
    V32 rounding_;
};

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FRAMEWIRE_FILTERS_GRAY_INPUT_INL_HPP
