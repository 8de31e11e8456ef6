#include "framewire/cuda/device/check.hpp"

#include "framewire/core/error.hpp"

#include <string_view>

namespace framewire::cuda {

void check(cudaError_t status, std::source_location where) {
    if (status == cudaSuccess) return;
    // Only the file's own name: where a build happened to stand is nobody's concern.
    std::string_view file = where.file_name();
    if (const auto slash = file.rfind('/'); slash != file.npos) file.remove_prefix(slash + 1);
    const bool of_machine = status == cudaErrorMemoryAllocation || status == cudaErrorNoDevice ||
                            status == cudaErrorInsufficientDriver || status == cudaErrorInvalidDevice ||
                            status == cudaErrorNoKernelImageForDevice || status == cudaErrorDevicesUnavailable;
    cudaGetLastError();  // a recoverable error must not be reported again by the next call
    fail(of_machine ? ErrorCode::config : ErrorCode::internal, "CUDA: {} ({}) at {}:{}", cudaGetErrorString(status),
         cudaGetErrorName(status), file, where.line());
}

}  // namespace framewire::cuda
