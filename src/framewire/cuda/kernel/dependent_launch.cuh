#pragma once

// Only for .cu files: kernels that come one after the other, each of which reads what the one before it wrote. From
// sm_90 on such a kernel may begin before the one before has ended: its blocks come as places get free, and wait inside
// (NVIDIA's programmatic dependent launch). The way from one kernel to the next costs less so, in a graph too. On older
// GPUs these functions change nothing.
//
// A kernel that is launched so calls wait_for_previous() in every thread, before it reads or writes global memory that
// others use, and before it ends: whoever comes next takes its end as the end of all before. What a kernel before may
// have written it does not read by __ldg, which takes memory as constant from the kernel's begin on.

#include "framewire/cuda/device/check.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <utility>

namespace framewire::cuda {

/// Lets the next kernel's blocks come as soon as all of this kernel's have begun. Says nothing of what is written.
__device__ inline void let_next_begin() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Returns when the kernel before has ended and all that it wrote can be read; at once where the launch waited for it.
__device__ inline void wait_for_previous() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Whether the present GPU runs what was compiled for sm_90 or later, where wait_for_previous() waits. It does not
/// where the program has only code for older ones, which a newer GPU runs as well. Asked once for each GPU: all kernels
/// of a program are compiled for the same ones.
inline bool waits_inside(const void* kernel) {
    enum : signed char { unknown, no, yes };
    static std::array<std::atomic<signed char>, 64> answers{};
    int device = 0;
    check(cudaGetDevice(&device));
    auto& answer = answers[static_cast<std::size_t>(device) % answers.size()];
    if (answer == unknown) {
        constexpr int sm_90 = 90;
        cudaFuncAttributes code{};
        check(cudaFuncGetAttributes(&code, kernel));
        answer = code.ptxVersion >= sm_90 && code.binaryVersion >= sm_90 ? yes : no;
    }
    return answer == yes;
}

/// Where a launch goes.
struct Launch {
    unsigned blocks, threads;
    std::size_t shared_bytes;
    cudaStream_t stream;
};

/// Launches a kernel that calls wait_for_previous(), and checks the launch. What is before it in the stream may be
/// anything; only kernels that call let_next_begin() are overlapped.
template <class... Parameters, class... Arguments>
void launch_dependent(void (*kernel)(Parameters...), const Launch& launch, Arguments&&... arguments) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(launch.blocks);
    config.blockDim = dim3(launch.threads);
    config.dynamicSmemBytes = launch.shared_bytes;
    config.stream = launch.stream;
    config.attrs = &attribute;
    config.numAttrs = waits_inside(reinterpret_cast<const void*>(kernel)) ? 1 : 0;
    check(cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...));
}

}  // namespace framewire::cuda
