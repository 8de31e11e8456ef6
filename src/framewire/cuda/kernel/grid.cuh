#pragma once

// Only for .cu files: host code that computes how many blocks a piece of work needs and how many a grid or a
// GPU can hold.

#include "framewire/cuda/device/check.hpp"
#include "framewire/cuda/device/device.hpp"
#include "framewire/cuda/kernel/launch.cuh"

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace framewire::cuda {

/// Largest number of blocks along a grid's y and z axes. The x axis takes 2^31 - 1.
inline constexpr int most_grid_blocks = 65535;

/// Returns `whole` / `part`, rounded up.
template <class Number>
constexpr Number parts(Number whole, std::type_identity_t<Number> part) {
    return (whole + part - 1) / part;
}

/// The same as the type of a grid's dimension.
template <class Number>
constexpr unsigned blocks(Number whole, std::type_identity_t<Number> part) {
    return static_cast<unsigned>(parts(whole, part));
}

/// Splits a batch into launches: calls launch(first frame, frames), each with as many frames as a grid can hold
/// if every frame takes `blocks_per_frame` blocks along y or z.
template <class Launch>
void for_frames(int frames, int blocks_per_frame, Launch&& launch) {
    const int most_frames = std::max(1, most_grid_blocks / blocks_per_frame);
    for (int first = 0; first < frames; first += most_frames) {
        launch(first, std::min(most_frames, frames - first));
    }
}

/// Returns an attribute of the current GPU. This and the functions below are for constructors of plans: the
/// results stay valid for all runs.
inline int device_attribute(cudaDeviceAttr attribute) {
    int device = 0, value = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&value, attribute, device));
    return value;
}

/// Returns the number of multiprocessors of the current GPU.
inline int multiprocessors() { return device_attribute(cudaDevAttrMultiProcessorCount); }

/// Allows a kernel to be launched with as much dynamic shared memory as one block may have. The kernel must not
/// use static shared memory.
template <class Kernel>
void allow_shared_memory(Kernel* kernel) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_memory().block_bytes));
}

/// Returns how many blocks of a kernel run on the current GPU at once, given their dynamic shared memory. For
/// persistent kernels, whose blocks take work until none is left. Also calls allow_shared_memory().
template <class Kernel>
unsigned blocks_at_once(Kernel* kernel, int threads_per_block, std::size_t shared_bytes) {
    allow_shared_memory(kernel);
    int each = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads_per_block, shared_bytes));
    return static_cast<unsigned>(std::max(1, each) * multiprocessors());
}

}  // namespace framewire::cuda
