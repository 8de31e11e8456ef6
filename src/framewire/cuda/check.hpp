#pragma once

#include <cuda_runtime.h>

#include <source_location>
#include <string>

// Only for .cpp and .cu files that call the CUDA runtime. No other header of this folder includes the runtime's
// headers.

namespace framewire::cuda {

/// Throws if `status` is not cudaSuccess: Error{config} if the GPU, its driver or its memory is missing, else
/// Error{internal}. The message names the file and line of the call.
void check(cudaError_t status, std::source_location where = std::source_location::current());

/// Returns "file.cu:123", without the folders of the machine that built the file.
std::string place(const char* file, int line);

}  // namespace framewire::cuda
