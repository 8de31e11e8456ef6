#pragma once

// Which instruction sets the SIMD sources are compiled for; included before Highway by every one of them.
// On x86-64: SSE4 (the whole project's floor, x86-64-v2), AVX2, and AVX-512 as of Ice Lake and Zen 4. Each more costs
// every SIMD source's compile time again.

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3)
#define HWY_WANT_AVX3_DL
#define HWY_DISABLE_PCLMUL_AES
