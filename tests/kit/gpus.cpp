#include "kit/gpus.hpp"
#include "kit/images.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace framewire::kit {
namespace {

constexpr cuda::GpuLimits limits_of(int major, int minor, int multiprocessors, int threads, int block_kib,
                                    int all_kib) {
    return {major, minor, multiprocessors, threads, block_kib * 1024, all_kib * 1024};
}

// CUDA Programming Guide, "Compute Capabilities". The multiprocessors are those of a small GPU, which the comment
// names.
constexpr SmallGpu gpus[] = {
    {"sm_75", limits_of(7, 5, 14, 1024, 64, 64)},      // GeForce GTX 1650
    {"sm_80", limits_of(8, 0, 14, 2048, 163, 164)},    // a seventh of an A100
    {"sm_86", limits_of(8, 6, 10, 1536, 99, 100)},     // A2
    {"sm_87", limits_of(8, 7, 4, 1536, 163, 164)},     // Jetson Orin Nano 4 GB
    {"sm_89", limits_of(8, 9, 20, 1536, 99, 100)},     // GeForce RTX 4050 Laptop
    {"sm_90", limits_of(9, 0, 16, 2048, 227, 228)},    // a seventh of an H100
    {"sm_100", limits_of(10, 0, 18, 2048, 227, 228)},  // an eighth of a B200
    {"sm_110", limits_of(11, 0, 20, 1536, 227, 228)},  // Jetson Thor
    {"sm_120", limits_of(12, 0, 20, 1536, 99, 100)},   // GeForce RTX 5050
};

// Returns the limits of the GPU that FRAMEWIRE_TEST_GPU names.
std::optional<cuda::GpuLimits> chosen() {
    const auto* const name = std::getenv("FRAMEWIRE_TEST_GPU");
    if (!name) return {};
    const auto* const gpu = std::ranges::find(gpus, std::string_view(name), &SmallGpu::name);
    if (gpu != std::end(gpus)) return gpu->limits;
    std::string allowed;
    for (const auto& one : gpus) allowed += " " + std::string(one.name);
    std::fprintf(stderr, "FRAMEWIRE_TEST_GPU: unknown GPU '%s'; allowed:%s\n", name, allowed.c_str());
    std::exit(2);
}

}  // namespace

std::span<const SmallGpu> small_gpus() { return gpus; }

// Plans choose by the memory of a block, of which there are four sizes, by the multiprocessors, and whether there are
// the instructions of sm_80. The largest size is that of the GPU as it is.
std::vector<std::optional<SmallGpu>> gpus_to_test() {
    std::vector<std::optional<SmallGpu>> tested{std::nullopt};
    if (std::getenv("FRAMEWIRE_TEST_GPU")) return tested;
    for (const auto& gpu : gpus)
        if (gpu.name == "sm_75" || (!brief() && (gpu.name == "sm_86" || gpu.name == "sm_87"))) tested.emplace_back(gpu);
    return tested;
}

EmulatedGpu::EmulatedGpu(const std::optional<cuda::GpuLimits>& limits) {
    cuda::lower_limits(limits ? limits : chosen());
}

EmulatedGpu::~EmulatedGpu() { cuda::lower_limits(chosen()); }

}  // namespace framewire::kit
