#include "framewire/cuda/foreign.hpp"
#include "framewire/core/dynamic_library.hpp"
#include "framewire/core/error.hpp"
#include "framewire/cuda/check.hpp"
#include "framewire/cuda/device.hpp"

namespace framewire::cuda {

// The runtime has no function that returns its context, and creates it on first use.
ForeignHandles foreign_handles(const Stream& stream) {
    ForeignHandles handles;
    use_device(stream.device());
    check(cudaFree(nullptr));
    const DynamicLibrary driver("libcuda.so.1");
    if (driver.function<int(CUctx_st**)>("cuCtxGetCurrent")(&handles.context) != 0 || !handles.context)
        fail(ErrorCode::config, "the CUDA driver has no context for GPU {}", stream.device());
    stream.queue([&](CUstream_st* handle) { handles.stream = handle; });
    return handles;
}

}  // namespace framewire::cuda
