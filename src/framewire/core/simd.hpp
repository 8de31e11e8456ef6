#pragma once

// Selects the instruction sets that SIMD sources are compiled for; every SIMD source includes this header before
// Highway. Every SIMD source is compiled once per instruction set, which takes time.
//   x86-64   SSE4 (the floor of the whole project, x86-64-v2), AVX2, and AVX-512 as of Ice Lake and Zen 4
//   arm64    NEON, which every processor has; no SVE, because SVE vectors cannot be stored in arrays or structures

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#define HWY_WANT_AVX3_DL
#define HWY_DISABLE_PCLMUL_AES

// Makes Highway compile for NEON without a choice at run time. Otherwise it would require the AES instructions, which
// the Raspberry Pi 4 does not have, and would mark only functions with them, not implicit constructors, which GCC
// refuses.
#if defined(__aarch64__)
#define TOOLCHAIN_MISS_SYS_AUXV_H
#endif
