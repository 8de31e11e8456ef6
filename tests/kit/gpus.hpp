#pragma once

#include "framewire/cuda/device.hpp"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace framewire::kit {

/// A small GPU of one architecture, whose limits a larger GPU emulates.
struct SmallGpu {
    std::string_view name;  ///< the architecture, such as "sm_75"
    cuda::GpuLimits limits;
};

/// Returns a small GPU of each architecture that FRAMEWIRE_GPUS=ALL builds for.
std::span<const SmallGpu> small_gpus();

/// Returns the GPUs on which a test of plans should run: nullopt for the GPU as it is, then the small GPUs for which
/// plans choose differently. Only the first if FRAMEWIRE_TEST_GPU names a GPU, and two in brief runs.
std::vector<std::optional<SmallGpu>> gpus_to_test();

/// Lowers cuda::limits() to those of a small GPU as long as the object exists. Afterwards, and before, those of the GPU
/// that FRAMEWIRE_TEST_GPU names are in force.
class EmulatedGpu {
public:
    explicit EmulatedGpu(const std::optional<cuda::GpuLimits>& limits);
    explicit EmulatedGpu(const std::optional<SmallGpu>& gpu)
        : EmulatedGpu(gpu ? std::optional(gpu->limits) : std::nullopt) {}
    EmulatedGpu(const EmulatedGpu&) = delete;
    EmulatedGpu& operator=(const EmulatedGpu&) = delete;
    ~EmulatedGpu();
};

}  // namespace framewire::kit
