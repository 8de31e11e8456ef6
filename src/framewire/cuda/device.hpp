#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace framewire::cuda {

/// Limits of a GPU, by which plans choose kernels, blocks and grids. All supported GPUs have the same registers: 65536
/// per multiprocessor and per block.
struct GpuLimits {
    /// Compute capability, such as 9.0.
    int compute_major = 0, compute_minor = 0;
    int multiprocessors = 0;
    /// Threads of all blocks that run on one multiprocessor at once.
    int multiprocessor_threads = 0;
    int block_shared_bytes = 0;           ///< maximum of shared memory for one block
    int multiprocessor_shared_bytes = 0;  ///< total of all blocks that run on one multiprocessor

    bool operator==(const GpuLimits&) const = default;
};

/// Properties of one GPU of this machine.
struct DeviceInfo {
    /// Number of the GPU in the CUDA runtime's order.
    int index = 0;
    std::string name;
    GpuLimits limits;
    std::int64_t memory_bytes = 0;
    /// Size of the L2 cache.
    std::int64_t l2_bytes = 0;
};

/// Returns the GPUs that this build can use. Empty on a machine without a GPU and in a build without CUDA.
/// Never throws.
std::vector<DeviceInfo> devices();

/// Makes GPU `device`, an index of devices(), the current GPU of the calling thread. Memory, streams, events and
/// attributes of kernels are made for the current GPU, which is GPU 0 unless a thread chooses another. Streams remember
/// their GPU and make it current whenever work is queued on them. Throws Error{config} if the GPU does not exist or has
/// failed.
void use_device(int device);
/// Returns the index of the calling thread's current GPU. Throws Error{config} if there is none.
int current_device();

/// Returns why this process can no longer use GPU `device`: it does not exist, it is lost, or a kernel crashed on it,
/// after which CUDA refuses all work of the process there. Returns an empty text if the GPU works; an error that
/// passes, such as too little memory, is no failure. Makes the GPU the current one of the calling thread. Never throws.
std::string why_failed(int device);

/// Returns a phrase that says why devices() is empty, or an empty text if there are GPUs.
std::string why_no_device();

/// Return the version of the CUDA toolkit that this build was made with, such as "12.4", and the newest version
/// that the installed driver supports. Empty if there is none. Neither initialises a GPU.
std::string toolkit_version();
std::string driver_version();

/// Returns the limits of the current GPU for plans made now. Throws Error{config} if there is no GPU.
GpuLimits limits();
/// Lowers limits() on all GPUs of this process to those of a smaller GPU, so that tests run what plans choose there.
/// Never raises a limit; an empty value ends it. Plans made before must not run any more: kernels are refused more
/// shared memory than the limit. No other thread may make plans meanwhile.
void lower_limits(const std::optional<GpuLimits>& smaller);

/// True if this build contains the CUDA code. In a build without it every function of this folder that needs a
/// GPU throws Error{config}.
inline constexpr bool compiled = FRAMEWIRE_CUDA != 0;

}  // namespace framewire::cuda
