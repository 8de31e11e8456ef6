#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/executor.hpp"

#include <cstddef>
#include <cstdint>

namespace framewire {

/// Owns uninitialised bytes in the memory of an executor's backend: the GPU's for CUDA, else the host's.
/// Move-only. Only one thread at a time may use the executor and the buffer.
class BackendBuffer {
public:
    BackendBuffer() = default;
    /// Allocates `bytes` bytes and keeps a reference to `executor`, which must outlive the buffer. On the CPU
    /// backend the memory comes from `on_host`. Throws Error{config} if there is not enough memory.
    BackendBuffer(std::size_t bytes, const Executor& executor, HostMemory& on_host = heap_memory());

    /// Returns the first byte: a host pointer or a device pointer, according to the backend. Null if the buffer
    /// is empty.
    std::uint8_t* data() const { return host_.data() ? host_.data() : device_.data(); }
    /// Returns the requested size.
    std::size_t bytes() const { return host_.data() ? host_.bytes() : device_.bytes(); }
    /// Returns the buffer as an array of T.
    template <class T>
    T* as() const {
        return reinterpret_cast<T*>(data());
    }

    /// Sets the first `count` bytes, or all of them, to `byte`. On CUDA the call only queues the work on the
    /// executor's stream.
    void fill(int byte, std::size_t count) const;
    /// Fills the whole buffer.
    void fill(int byte) const { fill(byte, bytes()); }
    /// Copies `count` bytes from the host to the start of the buffer, in order with the work queued on the executor's
    /// stream. Returns when the copy is done, so it is not for the frame path.
    void put(const void* from, std::size_t count) const;
    /// Copies the first `count` bytes of the buffer to the host, under the same conditions as put().
    void get(void* to, std::size_t count) const;

private:
    const Executor* executor_ = nullptr;
    HostBuffer host_;
    cuda::DeviceBuffer device_;
};

/// Owns a batch of images in the memory of an executor's backend, without gaps, uninitialised. Move-only.
class BackendImage {
public:
    BackendImage() = default;
    /// Allocates an image of `shape`, as BackendBuffer does. Throws Error{usage} if the shape is not allowed.
    BackendImage(const Shape& shape, const Executor& executor)
        : shape_((validate(shape, "the image"), shape)),
          buffer_(static_cast<std::size_t>(shape.bytes()), executor),
          executor_(&executor) {}

    /// Returns the shape of the images.
    const Shape& shape() const { return shape_; }
    /// Returns a view of the images. `space` must be the backend's memory space; see Executor::require_space().
    template <MemorySpace space>
    View<std::uint8_t, space> view() {
        return {buffer_.data(), shape_};
    }
    /// Returns a read-only view of the images. `space` must be the backend's memory space.
    template <MemorySpace space>
    View<const std::uint8_t, space> view() const {
        return {buffer_.data(), shape_};
    }

    /// Copies an image of the same shape from the host; returns when done, as BackendBuffer::put() does.
    void put(HostView<const std::uint8_t> from);
    /// Copies the images to the host, as BackendBuffer::get() does. `to` must have no gaps between its rows.
    void get(HostView<std::uint8_t> to) const {
        if (to.shape() != shape_ || to.row_stride_bytes() != shape_.row_bytes())
            fail(ErrorCode::internal, "an image was copied to one of another shape");
        buffer_.get(to.data(), static_cast<std::size_t>(shape_.bytes()));
    }

private:
    Shape shape_{};
    BackendBuffer buffer_;
    const Executor* executor_ = nullptr;
};

}  // namespace framewire

namespace framewire::cuda {

/// A mirrored buffer: an object on the host, and with the CUDA backend a second one of the same size on the GPU. Data
/// is copied between the two. `Of` is a template that owns memory in one space, such as BufferIn, ImageIn, BitMask
/// and ComponentBuffer. Uninitialised. Move-only.
template <template <MemorySpace> class Of>
class MirroredBuffer {
public:
    MirroredBuffer() = default;
    /// Makes both objects from `arguments`, the host's in the executor's frame_memory(). Throws what their
    /// constructors throw.
    template <class... Arguments>
    explicit MirroredBuffer(const Executor& executor, Arguments... arguments)
        : host_(arguments..., executor.frame_memory()) {
        if (executor.backend() == Backend::cuda) device_ = Of<MemorySpace::device>(arguments...);
    }

    /// Makes only the object on the GPU, for callers with their own memory on the host. Throws Error{internal}
    /// on the CPU backend.
    template <class... Arguments>
    static MirroredBuffer on_gpu(const Executor& executor, Arguments... arguments) {
        executor.require_space<MemorySpace::device>("a mirrored buffer without its host memory");
        executor.use_gpu();
        MirroredBuffer mirror;
        mirror.device_ = Of<MemorySpace::device>(arguments...);
        return mirror;
    }

    /// Returns the object in `space`. On the CPU backend the object on the GPU is empty.
    template <MemorySpace space>
    auto& in() {
        if constexpr (space == MemorySpace::host)
            return host_;
        else
            return device_;
    }
    /// Returns the object in `space`, read-only.
    template <MemorySpace space>
    const auto& in() const {
        return const_cast<MirroredBuffer*>(this)->in<space>();
    }
    /// Returns the object on the host.
    auto& host() { return host_; }
    /// Returns the object on the host, read-only.
    const auto& host() const { return host_; }
    /// Returns the object on the GPU.
    auto& device() { return device_; }
    /// Returns the object on the GPU, read-only.
    const auto& device() const { return device_; }

private:
    Of<MemorySpace::host> host_;
    Of<MemorySpace::device> device_;
};

}  // namespace framewire::cuda
