#pragma once

/// Marks a function that both the host and CUDA kernels call. Without nvcc the macro is empty.
#ifdef __CUDACC__
#define FRAMEWIRE_HOST_DEVICE __host__ __device__
#else
#define FRAMEWIRE_HOST_DEVICE
#endif
