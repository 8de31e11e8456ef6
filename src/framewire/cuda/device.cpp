#include "framewire/cuda/device.hpp"
#include "framewire/core/error.hpp"
#include "framewire/cuda/check.hpp"

#include <algorithm>
#include <tuple>

// Queries of GPUs, which do not throw if there is no GPU, and the choice of the current one. Errors are cleared so that
// later calls do not report them again.

namespace framewire::cuda {
namespace {

// Converts CUDA's encoding of a version, such as 12040, to "12.4".
std::string version_in_words(int number) {
    return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

// Returns the GPUs, see devices().
std::vector<DeviceInfo> query_devices() {
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
        const GpuLimits limits{.compute_major = properties.major,
                               .compute_minor = properties.minor,
                               .multiprocessors = properties.multiProcessorCount,
                               .multiprocessor_threads = properties.maxThreadsPerMultiProcessor,
                               .block_shared_bytes = static_cast<int>(properties.sharedMemPerBlockOptin),
                               .multiprocessor_shared_bytes = static_cast<int>(properties.sharedMemPerMultiprocessor)};
        found.push_back({index, properties.name, limits, static_cast<std::int64_t>(properties.totalGlobalMem),
                         properties.l2CacheSize});
    }
    return found;
}

// The limits that lower_limits() has set.
std::optional<GpuLimits>& lowered() {
    static std::optional<GpuLimits> smaller;
    return smaller;
}

}  // namespace

// Asked once: the GPUs of a process do not change, the answer takes milliseconds per GPU, and a thread whose current
// GPU has failed may not get one.
std::vector<DeviceInfo> devices() {
    static const auto found = query_devices();
    return found;
}

// A thread whose current GPU has failed must be able to leave it, so an error of the query is ignored.
void use_device(int device) {
    int current = 0;
    if (cudaGetDevice(&current) != cudaSuccess || current != device) check(cudaSetDevice(device));
}

int current_device() {
    int device = 0;
    check(cudaGetDevice(&device));
    return device;
}

// Every call that needs the GPU's context returns the error that broke it.
std::string why_failed(int device) {
    cudaEvent_t event = nullptr;
    auto status = cudaSetDevice(device);
    if (status == cudaSuccess) status = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    if (status == cudaSuccess) status = cudaEventDestroy(event);
    cudaGetLastError();
    return status == cudaSuccess || status == cudaErrorMemoryAllocation ? std::string() : cudaGetErrorString(status);
}

std::string why_no_device() {
    if (!devices().empty()) return {};
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

GpuLimits limits() {
    const int device = current_device();
    const auto all = devices();
    const auto gpu = std::ranges::find(all, device, &DeviceInfo::index);
    if (gpu == all.end()) fail(ErrorCode::config, "GPU {} cannot be queried", device);
    auto limits = gpu->limits;
    if (const auto& smaller = lowered()) {
        std::tie(limits.compute_major, limits.compute_minor) =
            std::min(std::tuple(limits.compute_major, limits.compute_minor),
                     std::tuple(smaller->compute_major, smaller->compute_minor));
        for (const auto limit : {&GpuLimits::multiprocessors, &GpuLimits::multiprocessor_threads,
                                 &GpuLimits::block_shared_bytes, &GpuLimits::multiprocessor_shared_bytes})
            limits.*limit = std::min(limits.*limit, *smaller.*limit);
    }
    return limits;
}

void lower_limits(const std::optional<GpuLimits>& smaller) { lowered() = smaller; }

}  // namespace framewire::cuda
