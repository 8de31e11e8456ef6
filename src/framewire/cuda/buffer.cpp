#include "framewire/cuda/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/cuda/check.hpp"
#include "framewire/cuda/device.hpp"

namespace framewire::cuda {
namespace {

// Page-locked memory of the CUDA runtime.
class Pinned final : public HostMemory {
public:
    void* allocate(std::size_t bytes) override {
        void* data = nullptr;
        // Throws Error{config} if the memory cannot be locked.
        check(cudaHostAlloc(&data, bytes, cudaHostAllocPortable));
        return data;
    }
    void release(void* data, std::size_t) noexcept override { cudaFreeHost(data); }
};

// Queues a copy of contiguous bytes.
void copy_bytes(const void* from, void* to, std::size_t bytes, cudaMemcpyKind kind, const Stream& stream) {
    if (bytes == 0) return;
    stream.queue([&](cudaStream_t handle) { check(cudaMemcpyAsync(to, from, bytes, kind, handle)); });
}

// Copies frame by frame, because cudaMemcpy2DAsync() has one stride and a batch has two.
void copy_images(const void* from, std::int64_t from_row_stride, std::int64_t from_frame_stride, void* to,
                 std::int64_t to_row_stride, std::int64_t to_frame_stride, const Shape& shape, cudaMemcpyKind kind,
                 const Stream& stream) {
    for (int frame = 0; frame < shape.frames; ++frame)
        stream.queue([&](cudaStream_t handle) {
            check(cudaMemcpy2DAsync(
                static_cast<std::uint8_t*>(to) + frame * to_frame_stride, static_cast<std::size_t>(to_row_stride),
                static_cast<const std::uint8_t*>(from) + frame * from_frame_stride,
                static_cast<std::size_t>(from_row_stride), static_cast<std::size_t>(shape.row_bytes()),
                static_cast<std::size_t>(shape.height), kind, handle));
        });
}

// Queues a copy of a batch; a dense batch needs only one copy.
template <MemorySpace from_space, MemorySpace to_space>
void copy_views(View<const std::uint8_t, from_space> from, View<std::uint8_t, to_space> to, cudaMemcpyKind kind,
                const Stream& stream) {
    validate(to, from.shape(), "the copy destination");
    if (from.dense() && to.dense())
        copy_bytes(from.data(), to.data(), static_cast<std::size_t>(from.shape().bytes()), kind, stream);
    else
        copy_images(from.data(), from.row_stride_bytes(), from.frame_stride_bytes(), to.data(), to.row_stride_bytes(),
                    to.frame_stride_bytes(), from.shape(), kind, stream);
}

// Throws the error for an allocation that has failed for lack of memory.
[[noreturn]] void refuse(std::size_t bytes) {
    cudaGetLastError();  // must not be reported again by the next call
    std::size_t free_bytes = 0, all_bytes = 0;
    check(cudaMemGetInfo(&free_bytes, &all_bytes));
    constexpr std::size_t megabyte = 1'000'000;
    fail(ErrorCode::config,
         "GPU {} has too little memory: {} MB are needed at once, and {} of {} MB are free; use smaller frames, fewer "
         "jobs at a time, or the cpu backend",
         current_device(), (bytes + megabyte - 1) / megabyte, free_bytes / megabyte, all_bytes / megabyte);
}

}  // namespace

HostMemory& pinned_memory() {
    static Pinned pinned;
    return pinned;
}

// cudaMalloc() aligns to at least 256 bytes.
DeviceBuffer::DeviceBuffer(std::size_t bytes) : bytes_(bytes) {
    if (!bytes) return;
    const auto status = cudaMalloc(&data_, bytes);
    if (status == cudaErrorMemoryAllocation) refuse(bytes);
    check(status);
}

DeviceBuffer::~DeviceBuffer() {
    if (data_) cudaFree(data_);
}

void upload(HostView<const std::uint8_t> from, DeviceView<std::uint8_t> to, const Stream& stream) {
    copy_views(from, to, cudaMemcpyHostToDevice, stream);
}
void download(DeviceView<const std::uint8_t> from, HostView<std::uint8_t> to, const Stream& stream) {
    copy_views(from, to, cudaMemcpyDeviceToHost, stream);
}
void copy(DeviceView<const std::uint8_t> from, DeviceView<std::uint8_t> to, const Stream& stream) {
    copy_views(from, to, cudaMemcpyDeviceToDevice, stream);
}

void upload(const void* from, void* to_device, std::size_t bytes, const Stream& stream) {
    copy_bytes(from, to_device, bytes, cudaMemcpyHostToDevice, stream);
}
void download(const void* from_device, void* to, std::size_t bytes, const Stream& stream) {
    copy_bytes(from_device, to, bytes, cudaMemcpyDeviceToHost, stream);
}
void copy(const void* from_device, void* to_device, std::size_t bytes, const Stream& stream) {
    copy_bytes(from_device, to_device, bytes, cudaMemcpyDeviceToDevice, stream);
}
void fill(void* device, int byte, std::size_t bytes, const Stream& stream) {
    if (bytes == 0) return;
    stream.queue([&](cudaStream_t handle) { check(cudaMemsetAsync(device, byte, bytes, handle)); });
}

}  // namespace framewire::cuda
