#include "framewire/cuda/backend_buffer.hpp"

#include <cstring>

namespace framewire {

BackendBuffer::BackendBuffer(std::size_t bytes, const Executor& executor, HostMemory& on_host) : executor_(&executor) {
    executor.use_gpu();
    if (executor.backend() == Backend::cuda)
        device_ = cuda::DeviceBuffer(bytes);
    else
        host_ = HostBuffer(bytes, on_host);
}

// On CUDA the fill is queued; on the host it happens at once.
void BackendBuffer::fill(int byte, std::size_t count) const {
    if (count == 0) return;
    if (executor_->backend() == Backend::cuda)
        cuda::fill(data(), byte, count, executor_->stream());
    else
        std::memset(data(), byte, count);
}

void BackendBuffer::put(const void* from, std::size_t count) const {
    if (count == 0) return;
    if (executor_->backend() == Backend::cuda)
        cuda::upload(from, data(), count, executor_->stream());
    else
        std::memcpy(data(), from, count);
    executor_->synchronize();
}

void BackendBuffer::get(void* to, std::size_t count) const {
    if (count == 0) return;
    if (executor_->backend() == Backend::cuda)
        cuda::download(data(), to, count, executor_->stream());
    else
        std::memcpy(to, data(), count);
    executor_->synchronize();
}

void BackendImage::put(HostView<const std::uint8_t> from) {
    if (executor_->backend() == Backend::cuda)
        cuda::upload(from, view<MemorySpace::device>(), executor_->stream());
    else
        copy(from, view<MemorySpace::host>());
    executor_->synchronize();
}

}  // namespace framewire
