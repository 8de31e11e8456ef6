#pragma once

#include "framewire/core/view.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace framewire {

/// Where host buffers come from: the heap, or memory the GPU can read at full speed (cuda::pinned_memory()).
class HostMemory {
public:
    virtual ~HostMemory() = default;
    /// At least `bytes` bytes, aligned to 64, uninitialised. Throws Error{config} when there is not enough.
    virtual void* allocate(std::size_t bytes) = 0;
    virtual void release(void* data, std::size_t bytes) noexcept = 0;
};

/// The heap; what is large has large pages, where the kernel gives such.
HostMemory& heap_memory();
/// The heap in pages of the usual size: for what is large, and of which little is touched. Large pages are cleared
/// whole however little of them is.
HostMemory& sparse_memory();

/// Owns uninitialised host bytes, aligned to 64. Move-only.
class HostBuffer {
public:
    HostBuffer() = default;
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

    std::uint8_t* data() const { return data_; }
    std::size_t bytes() const { return bytes_; }

    /// The buffer as an array of T.
    template <class T>
    T* as() const {
        return reinterpret_cast<T*>(data_);
    }

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

/// Owns a batch of images on the host, without gaps, uninitialised. Move-only.
class HostImage {
public:
    HostImage() = default;
    /// Throws Error{usage} on a shape that is not allowed.
    explicit HostImage(Shape shape, HostMemory& memory = heap_memory())
        : shape_((validate(shape, "the image"), shape)), buffer_(static_cast<std::size_t>(shape.bytes()), memory) {}

    const Shape& shape() const { return shape_; }
    HostView<std::uint8_t> view() { return {buffer_.data(), shape_}; }
    HostView<const std::uint8_t> view() const { return {buffer_.data(), shape_}; }

private:
    Shape shape_{};
    HostBuffer buffer_;
};

}  // namespace framewire
