#include "framewire/cuda/device.hpp"

#include "framewire/core/error.hpp"
#include "framewire/cuda/check.hpp"

namespace framewire::cuda {

std::vector<DeviceInfo> devices() {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) {
        cudaGetLastError();
        return {};
    }
    std::vector<DeviceInfo> found;
    for (int index = 0; index < count; ++index) {
        cudaDeviceProp properties{};
        if (cudaGetDeviceProperties(&properties, index) != cudaSuccess) continue;
        found.push_back({index, properties.name, properties.major, properties.minor, properties.multiProcessorCount,
                         static_cast<std::int64_t>(properties.totalGlobalMem), properties.l2CacheSize});
    }
    return found;
}

std::string why_no_device() {
    int count = 0;
    const auto status = cudaGetDeviceCount(&count);
    if (status == cudaSuccess && count > 0) return {};
    cudaGetLastError();
    return status == cudaSuccess ? "no GPU found" : cudaGetErrorString(status);
}

void use_device(int index) {
    if (const auto reason = why_no_device(); !reason.empty()) fail(ErrorCode::config, "no CUDA GPU: {}", reason);
    check(cudaSetDevice(index));
}

}  // namespace framewire::cuda
