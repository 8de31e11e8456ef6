#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/executor.hpp"

#include <cstddef>
#include <cstdint>

namespace framewire {

/// Owns uninitialised bytes in the memory that an executor's backend works in. Move-only.
class BackendBuffer {
public:
    BackendBuffer() = default;
    /// Throws Error{config} without memory.
    BackendBuffer(std::int64_t bytes, const Executor& executor) {
        if (executor.backend() == Backend::cuda)
            device_ = cuda::DeviceBuffer(static_cast<std::size_t>(bytes));
        else
            host_ = HostBuffer(static_cast<std::size_t>(bytes));
    }

    std::uint8_t* data() const { return host_.data() ? host_.data() : device_.data(); }
    std::size_t bytes() const { return host_.data() ? host_.bytes() : device_.bytes(); }
    template <class T>
    T* as() const {
        return reinterpret_cast<T*>(data());
    }

private:
    HostBuffer host_;
    cuda::DeviceBuffer device_;
};

}  // namespace framewire
