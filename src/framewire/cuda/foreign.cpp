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

void ForeignOrder::enter(void* foreign, const Stream& stream) {
    use_device(stream.device());
    check(cudaEventRecord(entered_.handle_, static_cast<cudaStream_t>(foreign)));
    entered_.make_wait(stream);
}

void ForeignOrder::leave(const Stream& stream, void* foreign) {
    left_.record(stream);
    check(cudaStreamWaitEvent(static_cast<cudaStream_t>(foreign), left_.handle_, 0));
}

// The runtime reports unknown addresses as unregistered host memory.
bool is_device_memory(const void* data, int device) {
    cudaPointerAttributes attributes{};
    check(cudaPointerGetAttributes(&attributes, data));
    return attributes.type == cudaMemoryTypeManaged ||
           (attributes.type == cudaMemoryTypeDevice && attributes.device == device);
}

}  // namespace framewire::cuda
