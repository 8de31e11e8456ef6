#pragma once

// Selects the instruction sets that SIMD sources are compiled for; every SIMD source includes this header before
// Highway. On x86-64: SSE4 (the floor of the whole project, x86-64-v2), AVX2, and AVX-512 as of Ice Lake and Zen 4.
// Every SIMD source is compiled once per instruction set, which takes time.

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3)
#define HWY_WANT_AVX3_DL
#define HWY_DISABLE_PCLMUL_AES
