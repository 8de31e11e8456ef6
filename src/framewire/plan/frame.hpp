#pragma once

#include "framewire/codec/delta.hpp"
#include "framewire/colour/yuv.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/filters/filter.hpp"
#include "framewire/plan/device_picture.hpp"

#include <cstdint>
#include <memory>

namespace framewire {

/// One frame of a run. It has an image on the host, which sources write and sinks read, and on the CUDA backend also a
/// mirrored image on the GPU, which stages process. The frame is uploaded once, however many stages read it, unless a
/// source or filter creates it on the GPU; it is downloaded if a sink needs it. Neither copy blocks the caller or other
/// frames. On the CPU backend both images are the same. Not thread-safe. Move-only.
class Frame {
public:
    Frame() = default;
    /// Allocates an uninitialised frame. Keeps a reference to `executor`. Throws Error{usage} if the shape is not
    /// allowed, Error{config} if there is not enough memory.
    Frame(const Shape& shape, Executor& executor)
        : image_(executor, shape), host_(image_.host().view()), transfer_(executor) {}
    /// Uses `host`, which the caller owns, as the image on the host. Nobody else may need its contents when this frame
    /// is downloaded. CUDA backend only.
    Frame(HostView<std::uint8_t> host, Executor& executor)
        : image_(cuda::MirroredBuffer<ImageIn>::on_gpu(executor, host.shape())), host_(host), transfer_(executor) {}

    /// Returns the shape of the image. A default-constructed frame is empty.
    const Shape& shape() const { return host_.shape(); }
    /// Returns true if there is no image.
    bool empty() const { return shape().height == 0; }

    /// Returns the image that sources write and sinks read, in pinned memory on the CUDA backend.
    HostView<std::uint8_t> host() { return host_; }
    /// Returns the host image as a read-only view.
    HostView<const std::uint8_t> host() const { return host_; }

    /// Returns the image for a source that writes the next image on the host.
    HostView<std::uint8_t> fill_on_host() {
        filled_on_gpu_ = false;
        return host();
    }
    /// Lets a source write the image on the GPU, which saves the upload. Calls queue(image, stream), which queues the
    /// work on a stream other than the executor's. The host has the image after upload(), download() and wait().
    /// Requires has_gpu().
    template <class Queue>
    void fill_on_gpu(Queue&& queue) {
        filled_on_gpu_ = true;
        transfer_.begin_up([&](const cuda::Stream& stream) { queue(image_.device().view(), stream); });
    }
    /// Returns true if the frame has an image on the GPU.
    bool has_gpu() const { return image_.device().shape().height > 0; }
    /// Returns true if the last image was written on the GPU.
    bool filled_on_gpu() const { return filled_on_gpu_; }

    /// Returns the image that stages read and write, in the memory space of the backend.
    template <MemorySpace space>
    View<std::uint8_t, space> in() {
        return image_.in<space>().view();
    }

    /// Queues the upload of the host's image, unless the source wrote the image on the GPU. Work that is queued later
    /// on the executor's stream waits for the image.
    void upload() {
        if (filled_on_gpu_) return transfer_.join_up();
        transfer_.up([&](const cuda::Stream& stream) { cuda::upload(host(), image_.device().view(), stream); });
    }
    /// Queues the download of the GPU's image after the work queued so far. The host has the image after wait().
    void download() {
        transfer_.down([&](const cuda::Stream& stream) { cuda::download(image_.device().view(), host(), stream); });
    }
    /// Blocks until the last copies are done. Throws if a copy or the work before it failed.
    void wait() { transfer_.wait(); }

private:
    cuda::MirroredBuffer<ImageIn> image_;
    HostView<std::uint8_t> host_{};
    bool filled_on_gpu_ = false;
    cuda::Transfer transfer_;  // last member: waits before the images are destroyed
};

/// Planes of one frame of a run, as filters take and make them: on the host, and on the CUDA backend on the GPU. Like a
/// Frame, they are uploaded once and downloaded if a sink needs them, and neither copy blocks other frames. Not
/// thread-safe. Move-only.
class FramePlanes {
public:
    FramePlanes() = default;
    /// Keeps a reference to `executor`. Memory is allocated when it is first needed.
    explicit FramePlanes(Executor& executor)
        : executor_(&executor), results_(executor.frame_memory()), transfer_(executor) {}

    /// Returns a view of a source's picture in the memory of the backend. On the GPU, work that is queued later on the
    /// executor's stream waits for its upload, and `picture` may change when the call returns.
    template <MemorySpace space>
    YuvView<const std::uint8_t, space> source(const HostYuv<const std::uint8_t>& picture) {
        if constexpr (space == MemorySpace::host)
            return picture;
        else
            return upload(picture);
    }
    /// Returns a copy of a picture that a source decoded on the GPU, in memory that is the same for each frame. Work
    /// that is queued later on the executor's stream waits for the copy, and `picture` may be released when the call
    /// returns. CUDA backend only.
    DeviceYuv<const std::uint8_t> source(const PictureOnGpu& picture);
    /// Returns planes of `info` for a result, in the memory of the backend.
    template <MemorySpace space>
    YuvView<std::uint8_t, space> result(const YuvInfo& info) {
        result_ = results_.take(info);
        if constexpr (space == MemorySpace::host)
            return result_->view();
        else
            return on_gpu(to_, info);
    }
    /// Returns the result on the host. On the GPU its download is queued, and the host has it after wait().
    std::shared_ptr<const YuvPicture> download();
    /// Blocks until the last copies are done. Throws if a copy or the work before it failed.
    void wait() { transfer_.wait(); }

private:
    DeviceYuv<const std::uint8_t> upload(const HostYuv<const std::uint8_t>& picture);
    static DeviceYuv<std::uint8_t> on_gpu(cuda::DeviceBuffer& buffer, const YuvInfo& info);

    Executor* executor_ = nullptr;
    std::unique_ptr<YuvPicture> pinned_;  // the source's picture, from which it is uploaded
    cuda::DeviceBuffer from_, to_;
    YuvPicturePool results_;
    std::shared_ptr<YuvPicture> result_;
    cuda::Transfer transfer_;  // last member: waits before the memory is freed
};

/// Returns an image of one channel that shows a plane, one sample per pixel.
template <class T, MemorySpace space>
View<T, space> image_of_plane(const YuvView<T, space>& picture, int plane) {
    const auto& info = picture.info;
    const auto& own = picture.planes[static_cast<std::size_t>(plane)];
    const Shape shape{info.frames, info.plane_rows(plane), static_cast<int>(info.plane_row_bytes(plane)), 1};
    return {own.data, shape, own.row_stride_bytes, own.row_stride_bytes * shape.height};
}

/// Returns a view of a difference encoder's output for NoiseFromChanges and HeatmapFromChanges, without copying.
template <MemorySpace space>
ChangedBytes<space> changed_bytes(const codec::ChangesView<space>& changes) {
    static_assert(sizeof(codec::Summary) % sizeof(changes.summaries->count) == 0);
    return {changes.positions, changes.differences, &changes.summaries->count,
            sizeof(codec::Summary) / sizeof(changes.summaries->count), changes.capacity};
}

}  // namespace framewire
