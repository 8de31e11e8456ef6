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

/// Chooses the GPU for the calling thread. Throws Error{config} when there is no such GPU.
void use_device(int index);

}  // namespace framewire::cuda
