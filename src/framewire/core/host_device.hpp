#pragma once

/// Marks a function that kernels call too.
#ifdef __CUDACC__
#define FRAMEWIRE_HOST_DEVICE __host__ __device__
#else
#define FRAMEWIRE_HOST_DEVICE
#endif
