#include "framewire/cuda/check.hpp"
#include "framewire/core/error.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace framewire::cuda {

std::string place(const char* file, int line) {
    std::string_view name = file;
    if (const auto slash = name.rfind('/'); slash != name.npos) name.remove_prefix(slash + 1);
    return fmt::format("{}:{}", name, line);
}

void check(cudaError_t status, std::source_location where) {
    if (status == cudaSuccess) return;
    // Errors that depend on the machine, not on a mistake in this program.
    const bool of_machine = status == cudaErrorMemoryAllocation || status == cudaErrorNoDevice ||
                            status == cudaErrorInsufficientDriver || status == cudaErrorInvalidDevice ||
                            status == cudaErrorNoKernelImageForDevice || status == cudaErrorDevicesUnavailable;
    cudaGetLastError();  // a recoverable error must not be reported again by the next call
    fail(of_machine ? ErrorCode::config : ErrorCode::internal, "CUDA: {} ({}) at {}", cudaGetErrorString(status),
         cudaGetErrorName(status), place(where.file_name(), static_cast<int>(where.line())));
}

}  // namespace framewire::cuda
