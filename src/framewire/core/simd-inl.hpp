// Small vector helpers over Highway, compiled once per instruction set. Include it in a SIMD source after
// <hwy/highway.h>. The guard below toggles, so that each pass of foreach_target.h compiles it again.
//
// Several helpers work "in blocks": x86 packs within each 16-byte block of a vector, not across it, and the portable
// versions do the same so that results are equal on every target. For two vectors of two blocks, a and b:
//     a = A0 A1, b = B0 B1  ->  A0 B0 A1 B1 (each narrowed)

#if defined(FRAMEWIRE_CORE_SIMD_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef FRAMEWIRE_CORE_SIMD_INL_HPP
#undef FRAMEWIRE_CORE_SIMD_INL_HPP
#else
#define FRAMEWIRE_CORE_SIMD_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {

/// Returns, per 32-bit lane, the sum of the products of its two signed 16-bit pairs.
template <class D32, class V16>
HWY_INLINE hwy::HWY_NAMESPACE::VFromD<D32> multiply_add_pairs([[maybe_unused]] D32 d32, V16 a, V16 b) {
    namespace hn = hwy::HWY_NAMESPACE;
#if HWY_ARCH_X86
    // A single pmaddwd on x86, which leaves the second sum of ReorderWidenMulAccumulate() untouched.
    auto unused = hn::Zero(d32);
    return hn::ReorderWidenMulAccumulate(d32, a, b, hn::Zero(d32), unused);
#elif HWY_ARCH_ARM_A64
    const auto lower = vmull_s16(vget_low_s16(a.raw), vget_low_s16(b.raw));
    return hn::VFromD<D32>{vpaddq_s32(lower, vmull_high_s16(a.raw, b.raw))};
#else
    const auto a32 = hn::BitCast(d32, a), b32 = hn::BitCast(d32, b);
    const auto even = hn::Mul(hn::ShiftRight<16>(hn::ShiftLeft<16>(a32)), hn::ShiftRight<16>(hn::ShiftLeft<16>(b32)));
    return hn::Add(even, hn::Mul(hn::ShiftRight<16>(a32), hn::ShiftRight<16>(b32)));
#endif
}

/// Returns, per 16-bit lane, the sum of the products of its two byte pairs, unsigned in `a` and signed in `b`. The sum
/// must fit 16 bits: x86 saturates, the portable version wraps.
template <class D16, class V8>
HWY_INLINE hwy::HWY_NAMESPACE::VFromD<D16> multiply_add_bytes(D16 d16, V8 a, V8 b) {
    namespace hn = hwy::HWY_NAMESPACE;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSSE3
    // One pmaddubsw, which this version of Highway does not offer.
    using V16 = hn::VFromD<D16>;
    if constexpr (hn::MaxLanes(d16) == 8) return V16{_mm_maddubs_epi16(a.raw, b.raw)};
#if HWY_TARGET <= HWY_AVX2
    if constexpr (hn::MaxLanes(d16) == 16) return V16{_mm256_maddubs_epi16(a.raw, b.raw)};
#endif
#if HWY_TARGET <= HWY_AVX3
    if constexpr (hn::MaxLanes(d16) == 32) return V16{_mm512_maddubs_epi16(a.raw, b.raw)};
#endif
#else
    const auto a16 = hn::BitCast(d16, a), b16 = hn::BitCast(d16, b);
    const auto odd = hn::Mul(hn::And(hn::ShiftRight<8>(a16), hn::Set(d16, 255)), hn::ShiftRight<8>(b16));
    const auto even = hn::Mul(hn::And(a16, hn::Set(d16, 255)), hn::ShiftRight<8>(hn::ShiftLeft<8>(b16)));
    return hn::Add(odd, even);
#endif
}

/// Narrows the signed 32-bit lanes of two vectors, which must fit 16 bits. Each 16-byte block holds those of `a`, then
/// those of `b`.
template <class D16, class V32>
HWY_INLINE hwy::HWY_NAMESPACE::VFromD<D16> halve_in_blocks([[maybe_unused]] D16 d16, V32 a, V32 b) {
    namespace hn = hwy::HWY_NAMESPACE;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSSE3
    // One packssdw.
    using V16 = hn::VFromD<D16>;
    if constexpr (hn::MaxLanes(d16) == 8) return V16{_mm_packs_epi32(a.raw, b.raw)};
#if HWY_TARGET <= HWY_AVX2
    if constexpr (hn::MaxLanes(d16) == 16) return V16{_mm256_packs_epi32(a.raw, b.raw)};
#endif
#if HWY_TARGET <= HWY_AVX3
    if constexpr (hn::MaxLanes(d16) == 32) return V16{_mm512_packs_epi32(a.raw, b.raw)};
#endif
#elif HWY_ARCH_ARM_A64
    return hn::VFromD<D16>{vqmovn_high_s32(vqmovn_s32(a.raw), b.raw)};
#else
    const hn::Repartition<std::uint8_t, D16> d8;
    const hn::Repartition<std::uint64_t, D16> d64;
    const auto lower = [&](V32 value) HWY_ATTR {
        HWY_ALIGN static constexpr std::uint8_t order[16] = {0, 1, 4, 5, 8, 9, 12, 13, 0, 1, 4, 5, 8, 9, 12, 13};
        return hn::BitCast(d64, hn::TableLookupBytes(hn::BitCast(d8, value), hn::LoadDup128(d8, order)));
    };
    return hn::BitCast(d16, hn::InterleaveLower(d64, lower(a), lower(b)));
#endif
}

/// Narrows the signed 16-bit lanes of two vectors to bytes, clamped to 0..255. Each 16-byte block holds those of `a`,
/// then those of `b`.
template <class D8, class V16>
HWY_INLINE hwy::HWY_NAMESPACE::VFromD<D8> narrow_in_blocks([[maybe_unused]] D8 d8, V16 a, V16 b) {
    namespace hn = hwy::HWY_NAMESPACE;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSSE3
    // One packuswb, which this version of Highway offers for single vectors only.
    using V8 = hn::VFromD<D8>;
    if constexpr (hn::MaxLanes(d8) == 16) return V8{_mm_packus_epi16(a.raw, b.raw)};
#if HWY_TARGET <= HWY_AVX2
    if constexpr (hn::MaxLanes(d8) == 32) return V8{_mm256_packus_epi16(a.raw, b.raw)};
#endif
#if HWY_TARGET <= HWY_AVX3
    if constexpr (hn::MaxLanes(d8) == 64) return V8{_mm512_packus_epi16(a.raw, b.raw)};
#endif
#elif HWY_ARCH_ARM_A64
    return hn::VFromD<D8>{vqmovun_high_s16(vqmovun_s16(a.raw), b.raw)};
#else
    const hn::RepartitionToWide<D8> d16;
    const hn::Repartition<std::int16_t, D8> signed16;
    const hn::Repartition<std::uint64_t, D8> d64;
    const auto held = [&](V16 value) HWY_ATTR {
        return hn::BitCast(d16, hn::Min(hn::Max(value, hn::Zero(signed16)), hn::Set(signed16, 255)));
    };
    // Moves the even bytes of each block to the lower half of the block.
    const auto even = [&](V16 value) HWY_ATTR {
        HWY_ALIGN static constexpr std::uint8_t order[16] = {0, 2, 4, 6, 8, 10, 12, 14, 0, 2, 4, 6, 8, 10, 12, 14};
        return hn::BitCast(d64, hn::TableLookupBytes(hn::BitCast(d8, held(value)), hn::LoadDup128(d8, order)));
    };
    return hn::BitCast(d8, hn::InterleaveLower(d64, even(a), even(b)));
#endif
}

/// Narrows the signed 16-bit lanes of two vectors to bytes, clamped to -128..127. Each 16-byte block holds those of
/// `a`, then those of `b`.
template <class D8, class V16>
HWY_INLINE hwy::HWY_NAMESPACE::VFromD<D8> narrow_signed_in_blocks([[maybe_unused]] D8 d8, V16 a, V16 b) {
    namespace hn = hwy::HWY_NAMESPACE;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSSE3
    using V8 = hn::VFromD<D8>;
    if constexpr (hn::MaxLanes(d8) == 16) return V8{_mm_packs_epi16(a.raw, b.raw)};
#if HWY_TARGET <= HWY_AVX2
    if constexpr (hn::MaxLanes(d8) == 32) return V8{_mm256_packs_epi16(a.raw, b.raw)};
#endif
#if HWY_TARGET <= HWY_AVX3
    if constexpr (hn::MaxLanes(d8) == 64) return V8{_mm512_packs_epi16(a.raw, b.raw)};
#endif
#elif HWY_ARCH_ARM_A64
    return hn::VFromD<D8>{vreinterpretq_u8_s8(vqmovn_high_s16(vqmovn_s16(a.raw), b.raw))};
#else
    const hn::Repartition<std::int16_t, D8> d16;
    const auto middle = hn::Set(d16, 128);
    return hn::Xor(narrow_in_blocks(d8, hn::Add(a, middle), hn::Add(b, middle)), hn::Set(d8, 128));
#endif
}

/// Narrows four vectors of 32-bit lanes in 0..255 to one vector of bytes, in order.
template <class D8, class V32>
HWY_INLINE hwy::HWY_NAMESPACE::VFromD<D8> narrow_to_bytes(D8 d8, V32 q0, V32 q1, V32 q2, V32 q3) {
    namespace hn = hwy::HWY_NAMESPACE;
    // Takes the lowest byte of every lane of the four vectors by keeping the even half twice.
    const hn::Repartition<std::uint16_t, D8> d16;
    const auto low = hn::ConcatEven(d16, hn::BitCast(d16, q1), hn::BitCast(d16, q0));
    const auto high = hn::ConcatEven(d16, hn::BitCast(d16, q3), hn::BitCast(d16, q2));
    return hn::ConcatEven(d8, hn::BitCast(d8, high), hn::BitCast(d8, low));
}

/// Number of vectors that hold a sum of floats. With NEON they have sixteen lanes together, like one vector of AVX-512:
/// both add in the same order, so sums have the same bits.
constexpr int vectors_per_sum = HWY_ARCH_ARM_A64 ? 4 : 1;

/// Returns the sum of all lanes of `vectors_per_sum` vectors of floats.
template <class DF>
HWY_INLINE float sum_of_lanes(DF df, const hwy::HWY_NAMESPACE::VFromD<DF>* sums) {
    namespace hn = hwy::HWY_NAMESPACE;
    if constexpr (vectors_per_sum == 1) return hn::GetLane(hn::SumOfLanes(df, sums[0]));
    // AVX-512 adds the halves of the sixteen lanes, then the halves of those sums, and so on.
    const auto four = hn::Add(hn::Add(sums[0], sums[2]), hn::Add(sums[1], sums[3]));
    const auto two = hn::Add(four, hn::Shuffle1032(four));
    return hn::GetLane(hn::Add(two, hn::Shuffle2301(two)));
}

/// Returns a function that moves bytes 0..11, 12..23, 24..35, ... of a vector to the start of its 16-byte blocks: four
/// BGR pixels per block. The last four bytes of each block are unspecified.
template <class D8>
HWY_INLINE auto blocks_of_12_bytes(D8 d8) {
    namespace hn = hwy::HWY_NAMESPACE;
    const hn::Repartition<std::uint32_t, D8> d32;
    HWY_ALIGN std::int32_t order[HWY_MAX_BYTES / 4];
    const auto lanes = static_cast<std::int32_t>(hn::Lanes(d32));
    for (std::int32_t lane = 0; lane < lanes; ++lane) {
        const auto from = lane / 4 * 3 + lane % 4;
        order[lane] = from < lanes ? from : 0;
    }
    const auto indices = hn::SetTableIndices(d32, order);
    return [d8, d32, indices](hn::VFromD<D8> bytes)
               HWY_ATTR { return hn::BitCast(d8, hn::TableLookupLanes(hn::BitCast(d32, bytes), indices)); };
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FRAMEWIRE_CORE_SIMD_INL_HPP
