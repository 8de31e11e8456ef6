#pragma once

// Only for .cpp and .cu files that call the CUDA runtime: everything else of this folder keeps it out of sight.

#include <cuda_runtime.h>

#include <source_location>
#include <string>

namespace framewire::cuda {

/// Throws Error{config} for a missing GPU or memory and Error{internal} for the rest, naming the call's place.
void check(cudaError_t status, std::source_location where = std::source_location::current());

/// "file.cu:123", without the folders of the machine that built it.
std::string place(const char* file, int line);

}  // namespace framewire::cuda
