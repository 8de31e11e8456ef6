#include "framewire/cuda/device.hpp"
#include "framewire/cuda/check.hpp"

// Queries of GPUs. None of them throws if there is no GPU, except shared_memory(), and errors are cleared so
// that later calls do not report them again.

namespace framewire::cuda {
namespace {

// Converts CUDA's encoding of a version, such as 12040, to "12.4".
std::string version_in_words(int number) {
    return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

}  // namespace

std::vector<DeviceInfo> devices() {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) {
        cudaGetLastError();
        return {};
    }
    std::vector<DeviceInfo> found;
    for (int index = 0; index < count; ++index) {
        cudaDeviceProp properties{};
        // A GPU that cannot be queried is skipped.
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

std::string toolkit_version() { return version_in_words(CUDART_VERSION); }

std::string driver_version() {
    int number = 0;
    if (cudaDriverGetVersion(&number) != cudaSuccess || number == 0) return {};
    return version_in_words(number);
}

SharedMemory shared_memory() {
    int device = 0;
    SharedMemory memory;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&memory.block_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    check(cudaDeviceGetAttribute(&memory.multiprocessor_bytes, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device));
    return memory;
}

}  // namespace framewire::cuda
