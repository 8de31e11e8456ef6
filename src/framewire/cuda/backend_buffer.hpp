#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/executor.hpp"

#include <cstddef>
#include <cstdint>

namespace framewire {

/// Owns uninitialised bytes in the memory that an executor's backend works in. Move-only.
class BackendBuffer {
public:
    BackendBuffer() = default;
    /// Keeps a reference to `executor`. Where its backend works on the host, the bytes come of `on_host`. Throws
    /// Error{config} without memory.
    BackendBuffer(std::size_t bytes, const Executor& executor, HostMemory& on_host = heap_memory());

    std::uint8_t* data() const { return host_.data() ? host_.data() : device_.data(); }
    std::size_t bytes() const { return host_.data() ? host_.bytes() : device_.bytes(); }
    template <class T>
    T* as() const {
        return reinterpret_cast<T*>(data());
    }

    /// Sets all bytes, or the first `count`. On CUDA queued on the executor's stream.
    void fill(int byte, std::size_t count) const;
    void fill(int byte) const { fill(byte, bytes()); }
    /// Copies `count` bytes from the host to the beginning, or from there to the host, in order with the work queued on
    /// the executor's stream; returns when done. Not for the frame path.
    void put(const void* from, std::size_t count) const;
    void get(void* to, std::size_t count) const;

private:
    const Executor* executor_ = nullptr;
    HostBuffer host_;
    cuda::DeviceBuffer device_;
};

/// Owns a batch of images there, without gaps, uninitialised. Move-only.
class BackendImage {
public:
    BackendImage() = default;
    /// As BackendBuffer; throws Error{usage} on a shape that is not allowed.
    BackendImage(const Shape& shape, const Executor& executor)
        : shape_((validate(shape, "the image"), shape)),
          buffer_(static_cast<std::size_t>(shape.bytes()), executor),
          executor_(&executor) {}

    const Shape& shape() const { return shape_; }
    /// `space` is the backend's.
    template <MemorySpace space>
    View<std::uint8_t, space> view() {
        return {buffer_.data(), shape_};
    }
    template <MemorySpace space>
    View<const std::uint8_t, space> view() const {
        return {buffer_.data(), shape_};
    }

    /// Copies an image of its shape from the host, as BackendBuffer::put() does.
    void put(HostView<const std::uint8_t> from);

private:
    Shape shape_{};
    BackendBuffer buffer_;
    const Executor* executor_ = nullptr;
};

}  // namespace framewire
