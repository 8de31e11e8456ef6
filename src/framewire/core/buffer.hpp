#pragma once

#include "framewire/core/view.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace framewire {

/// Allocator of host buffers: the heap, or memory that the GPU reads at full speed (cuda::pinned_memory()). An
/// allocator must outlive all buffers that use its memory.
class HostMemory {
public:
    virtual ~HostMemory() = default;
    /// Returns at least `bytes` bytes, aligned to 64 and uninitialised. Throws Error{config} if there is not enough
    /// memory.
    virtual void* allocate(std::size_t bytes) = 0;
    /// Frees memory from allocate(). `bytes` is the requested number.
    virtual void release(void* data, std::size_t bytes) noexcept = 0;
};

/// Returns the heap. Buffers from 4 MiB on get large pages if the kernel has them (`MADV_HUGEPAGE`). Thread-safe.
HostMemory& heap_memory();
/// Returns the heap with pages of the usual size, for large buffers that are mostly unused: the kernel would clear a
/// large page as a whole, even if little of it is used. Thread-safe.
HostMemory& sparse_memory();

/// Owns uninitialised host bytes, aligned to 64. Move-only. An empty buffer has a null pointer.
class HostBuffer {
public:
    HostBuffer() = default;
    /// Allocates `bytes` bytes from `memory`, which outlives the buffer. Throws Error{config} if there is not enough.
    explicit HostBuffer(std::size_t bytes, HostMemory& memory = heap_memory())
        : memory_(&memory),
          data_(bytes ? static_cast<std::uint8_t*>(memory.allocate(bytes)) : nullptr),
          bytes_(bytes) {}
    HostBuffer(HostBuffer&& other) noexcept { swap(other); }
    HostBuffer& operator=(HostBuffer&& other) noexcept {
        HostBuffer(std::move(other)).swap(*this);
        return *this;
    }
    ~HostBuffer() {
        if (data_) memory_->release(data_, bytes_);
    }

    /// Returns the first byte, null if the buffer is empty.
    std::uint8_t* data() const { return data_; }
    /// Returns the requested size.
    std::size_t bytes() const { return bytes_; }

    /// Returns the buffer as an array of T.
    template <class T>
    T* as() const {
        return reinterpret_cast<T*>(data_);
    }

    /// Exchanges the memory of two buffers; pointers into them stay valid.
    void swap(HostBuffer& other) noexcept {
        std::swap(memory_, other.memory_);
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
    }

private:
    HostMemory* memory_ = nullptr;
    std::uint8_t* data_ = nullptr;
    std::size_t bytes_ = 0;
};

/// Owns a batch of images on the host, without gaps between rows or frames, uninitialised. Move-only.
class HostImage {
public:
    HostImage() = default;
    /// Allocates an image of `shape` from `memory`. Throws Error{usage} if the shape is not allowed.
    explicit HostImage(Shape shape, HostMemory& memory = heap_memory())
        : shape_((validate(shape, "the image"), shape)), buffer_(static_cast<std::size_t>(shape.bytes()), memory) {}

    /// Returns the shape of the batch.
    const Shape& shape() const { return shape_; }
    /// Returns a view of all images; valid as long as the batch.
    HostView<std::uint8_t> view() { return {buffer_.data(), shape_}; }
    /// Returns a read-only view of all images; valid as long as the batch.
    HostView<const std::uint8_t> view() const { return {buffer_.data(), shape_}; }

private:
    Shape shape_{};
    HostBuffer buffer_;
};

}  // namespace framewire
