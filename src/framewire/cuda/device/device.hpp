#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace framewire::cuda {

/// A GPU of this machine.
struct DeviceInfo {
    int index = 0;
    std::string name;
    int compute_major = 0, compute_minor = 0;
    int multiprocessors = 0;
    std::int64_t memory_bytes = 0;
    std::int64_t l2_bytes = 0;
};

/// The GPUs this build can use; empty on a machine without one or a build without CUDA. Never throws.
std::vector<DeviceInfo> devices();

/// Why devices() is empty, in words; empty when it is not.
std::string why_no_device();

/// Of the CUDA toolkit that this build was made with, "12.4", and the newest that the driver here serves; empty
/// without. Neither wakes a GPU.
std::string toolkit_version();
std::string driver_version();

/// What a GPU has of the memory that the threads of a block share.
struct SharedMemory {
    int block_bytes = 0;  ///< that one block may have: 64 KiB (sm_75), 99 (sm_86, 89, 120), 163 (sm_80), 227 (sm_90)
    int multiprocessor_bytes = 0;  ///< of all blocks on one multiprocessor
};

/// That of the current GPU. Throws Error{config} without one.
SharedMemory shared_memory();

}  // namespace framewire::cuda
