#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/stream.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace framewire::cuda {

/// Returns the allocator of page-locked host memory, which every GPU reads and writes at the full speed of the bus
/// while the CPU continues to work (streaming report, section 2.2.3).
HostMemory& pinned_memory();

/// Owns uninitialised bytes on the current GPU, aligned to 256. Move-only. cudaMalloc() synchronizes the
/// device, so allocate at set-up and not in the frame path.
class DeviceBuffer {
public:
    DeviceBuffer() = default;
    /// Allocates `bytes` bytes. Throws Error{config} if there is no GPU or not enough memory.
    explicit DeviceBuffer(std::size_t bytes);
    ~DeviceBuffer();
    DeviceBuffer(DeviceBuffer&& other) noexcept { swap(other); }
    DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
        DeviceBuffer(std::move(other)).swap(*this);
        return *this;
    }

    /// Returns the device pointer, null if the buffer is empty. Host code must not dereference it.
    std::uint8_t* data() const { return data_; }
    /// Returns the requested size.
    std::size_t bytes() const { return bytes_; }
    /// Returns the buffer as an array of T.
    template <class T>
    T* as() const {
        return reinterpret_cast<T*>(data_);
    }
    /// Exchanges the memory of two buffers; pointers into them stay valid.
    void swap(DeviceBuffer& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
    }

private:
    std::uint8_t* data_ = nullptr;
    std::size_t bytes_ = 0;
};

/// Owns a batch of images on the GPU, without gaps between rows or frames, uninitialised. Move-only.
class DeviceImage {
public:
    DeviceImage() = default;
    /// Allocates images of `shape`. Throws Error{usage} if the shape is not allowed, Error{config} if there is no GPU
    /// or not enough memory.
    explicit DeviceImage(Shape shape)
        : shape_((validate(shape, "the image"), shape)), buffer_(static_cast<std::size_t>(shape.bytes())) {}

    /// Returns the shape of the batch.
    const Shape& shape() const { return shape_; }
    /// Returns a view of all images; valid as long as the batch.
    DeviceView<std::uint8_t> view() { return {buffer_.data(), shape_}; }
    /// Returns a read-only view of all images; valid as long as the batch.
    DeviceView<const std::uint8_t> view() const { return {buffer_.data(), shape_}; }

private:
    Shape shape_{};
    DeviceBuffer buffer_;
};

/// Queue a copy of a batch of images on `stream`. Throw Error{usage} unless both views have the same shape. The call
/// is asynchronous only if the host side is pinned memory, which then must stay untouched until the stream has passed
/// the copy. The views must not overlap.
void upload(HostView<const std::uint8_t> from, DeviceView<std::uint8_t> to, const Stream& stream);
void download(DeviceView<const std::uint8_t> from, HostView<std::uint8_t> to, const Stream& stream);
void copy(DeviceView<const std::uint8_t> from, DeviceView<std::uint8_t> to, const Stream& stream);

/// Queue a copy of contiguous bytes; fill() sets `bytes` bytes to `byte`. With 0 bytes nothing is queued.
void upload(const void* from, void* to_device, std::size_t bytes, const Stream& stream);
void download(const void* from_device, void* to, std::size_t bytes, const Stream& stream);
void copy(const void* from_device, void* to_device, std::size_t bytes, const Stream& stream);
void fill(void* device, int byte, std::size_t bytes, const Stream& stream);

}  // namespace framewire::cuda

namespace framewire {

/// The buffer type that owns bytes in `space`.
template <MemorySpace space>
using BufferIn = std::conditional_t<space == MemorySpace::host, HostBuffer, cuda::DeviceBuffer>;
/// The image type that owns a batch of images in `space`.
template <MemorySpace space>
using ImageIn = std::conditional_t<space == MemorySpace::host, HostImage, cuda::DeviceImage>;

}  // namespace framewire
