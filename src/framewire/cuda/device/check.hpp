#pragma once

// Only for .cpp and .cu files that call the CUDA runtime: everything else of this folder keeps it out of sight.

#include <cuda_runtime.h>

#include <source_location>

namespace framewire::cuda {

/// Throws Error{config} for a missing GPU or memory and Error{internal} for the rest, naming the call's place.
void check(cudaError_t status, std::source_location where = std::source_location::current());

/// Checks the launch just made; what a kernel does wrong while it runs shows at the next synchronization.
inline void check_launch(std::source_location where = std::source_location::current()) {
    check(cudaGetLastError(), where);
}

}  // namespace framewire::cuda
