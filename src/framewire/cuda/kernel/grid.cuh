#pragma once

// Only for .cu files: how many blocks work takes, and how many a grid has room for. Host code.

#include "framewire/cuda/device/check.hpp"
#include "framewire/cuda/device/device.hpp"
#include "framewire/cuda/kernel/launch.cuh"

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace framewire::cuda {

/// Of blocks, along a grid's height and along its depth; there is room for 2^31 - 1 along its width.
inline constexpr int most_grid_blocks = 65535;

/// How many parts of size `part` a whole has, the last cut.
template <class Number>
constexpr Number parts(Number whole, std::type_identity_t<Number> part) {
    return (whole + part - 1) / part;
}

/// The same as a grid takes it.
template <class Number>
constexpr unsigned blocks(Number whole, std::type_identity_t<Number> part) {
    return static_cast<unsigned>(parts(whole, part));
}

/// Calls launch(first frame, frames) until all of a batch had their turn, with as many at a time as a grid has room for
/// when each takes `blocks_per_frame` of its height or depth.
template <class Launch>
void for_frames(int frames, int blocks_per_frame, Launch&& launch) {
    const int most_frames = std::max(1, most_grid_blocks / blocks_per_frame);
    for (int first = 0; first < frames; first += most_frames) {
        launch(first, std::min(most_frames, frames - first));
    }
}

/// What the current GPU has. For plans, as those below: what they find holds for all runs.
inline int device_attribute(cudaDeviceAttr attribute) {
    int device = 0, value = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&value, attribute, device));
    return value;
}

inline int multiprocessors() { return device_attribute(cudaDevAttrMultiProcessorCount); }

/// Lets launches of a kernel have as much dynamic shared memory as a block may have. Its shared memory is all dynamic.
template <class Kernel>
void allow_shared_memory(Kernel* kernel) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_memory().block_bytes));
}

/// How many blocks of a kernel the current GPU has under way at once, with so much dynamic shared memory each: for
/// kernels whose blocks take work until there is none. Lets it have as much.
template <class Kernel>
unsigned blocks_at_once(Kernel* kernel, int threads_per_block, std::size_t shared_bytes) {
    allow_shared_memory(kernel);
    int each = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads_per_block, shared_bytes));
    return static_cast<unsigned>(std::max(1, each) * multiprocessors());
}

}  // namespace framewire::cuda
