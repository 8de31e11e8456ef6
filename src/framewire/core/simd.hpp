#pragma once

// Selects the instruction sets that SIMD sources are compiled for; every one of them includes this before Highway. On
// x86-64: SSE4 (the floor of the whole project, x86-64-v2), AVX2, and AVX-512 as of Ice Lake and Zen 4. Each
// instruction set adds the compile time of every SIMD source once more.

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3)
#define HWY_WANT_AVX3_DL
#define HWY_DISABLE_PCLMUL_AES
