#pragma once

// Only for .cu files: the launch of kernels.

#include "framewire/cuda/device/check.hpp"
#include "framewire/cuda/stream.hpp"

#include <cstddef>
#include <source_location>
#include <type_traits>

namespace framewire::cuda {

/// Launches a kernel: Launch(stream, grid, block)(kernel, arguments...). Every launch uses this class, which
/// resolves the stream's current handle, so that launches are recorded into graphs, and throws if the launch
/// itself fails. Errors of the running kernel surface at the next synchronization.
class Launch {
public:
    /// `shared_bytes` is dynamic shared memory per block. `where` is named in messages.
    Launch(const Stream& stream, dim3 grid, dim3 block, std::size_t shared_bytes = 0,
           std::source_location where = std::source_location::current())
        : stream_(stream), grid_(grid), block_(block), shared_bytes_(shared_bytes), where_(where) {}

    /// Arguments are converted to the kernel's parameter types.
    template <class... Parameters>
    void operator()(void (*kernel)(Parameters...), std::type_identity_t<Parameters>... arguments) const {
        // cudaLaunchKernel() takes the addresses of the arguments; the array must not be empty.
        void* addresses[] = {&arguments..., nullptr};
        stream_.queue(
            [&](cudaStream_t handle) {
                check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid_, block_, addresses, shared_bytes_,
                                       handle),
                      where_);
            },
            {where_.file_name(), static_cast<int>(where_.line())});
    }

private:
    const Stream& stream_;
    dim3 grid_, block_;
    std::size_t shared_bytes_;
    std::source_location where_;
};

}  // namespace framewire::cuda
