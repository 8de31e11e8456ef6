#pragma once

#include "framewire/codec/delta.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/rows.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/filters/filter.hpp"

#include <cstdint>

namespace framewire {

/// One frame of a run: an image on the host, which sources write and sinks read, and on the CUDA backend a
/// mirrored one on the GPU, which stages work on. The frame is uploaded once, however many stages read it, or a
/// source or filter creates it on the GPU; it is downloaded if a sink needs it. Neither copy blocks the caller
/// or other frames. On the CPU backend both are the same image. Used by one thread at a time. Move-only.
class Frame {
public:
    Frame() = default;
    /// Allocates an uninitialised frame. Keeps a reference to `executor`. Throws Error{usage} if the shape is
    /// not allowed, Error{config} if there is not enough memory.
    Frame(const Shape& shape, Executor& executor)
        : image_(executor, shape), host_(image_.host().view()), transfer_(executor) {}
    /// The same with foreign memory for the image on the host, for frames whose host image nobody else needs by
    /// the time that this one is downloaded. CUDA backend only.
    Frame(HostView<std::uint8_t> host, Executor& executor)
        : image_(cuda::MirroredBuffer<ImageIn>::on_gpu(executor, host.shape())), host_(host), transfer_(executor) {}

    /// Shape of the image; a default-constructed frame is empty.
    const Shape& shape() const { return host_.shape(); }
    /// Returns true if there is no image.
    bool empty() const { return shape().height == 0; }

    /// Returns the image that sources write and sinks read, in pinned memory on the CUDA backend.
    HostView<std::uint8_t> host() { return host_; }
    /// The same, read-only.
    HostView<const std::uint8_t> host() const { return host_; }

    /// For a source that writes the frame's next image on the host: returns the image.
    HostView<std::uint8_t> fill_on_host() {
        filled_on_gpu_ = false;
        return host();
    }
    /// For a source that writes the image on the GPU, which saves the upload: calls queue(image, stream), which
    /// queues the work on a stream beside the executor's. The host has the image after upload(), download() and
    /// wait(). Requires has_gpu().
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

    /// Queues the upload of the host's image, unless the source wrote it on the GPU. Work queued later on the
    /// executor's stream waits for it.
    void upload() {
        if (filled_on_gpu_) return transfer_.join_up();
        transfer_.up([&](const cuda::Stream& stream) { cuda::upload(host(), image_.device().view(), stream); });
    }
    /// Queues the download of the GPU's image in order with the work queued so far. The host has it after
    /// wait().
    void download() {
        transfer_.down([&](const cuda::Stream& stream) { cuda::download(image_.device().view(), host(), stream); });
    }
    /// Blocks until the last copies are done. Throws if they, or the work before them, failed.
    void wait() { transfer_.wait(); }

private:
    cuda::MirroredBuffer<ImageIn> image_;
    HostView<std::uint8_t> host_{};
    bool filled_on_gpu_ = false;
    cuda::Transfer transfer_;  // last member: it waits before the images are destroyed
};

/// Returns a function that makes the gray rows of an image, as the filter `gray` (weighted) does, from the rows
/// that `make` writes, which have `channels` bytes per pixel, 1 or 3. A few rows are converted at a time in a
/// core's cache. The result refers to `make`.
MakeRows gray_rows(const MakeRows& make, int channels);

/// The same for rows with planar channels.
MakeChannelRows channel_rows(const MakeRows& make, int width, int channels);

/// Returns a view of a difference encoder's output for NoiseFromChanges and HeatmapFromChanges; nothing is
/// copied.
template <MemorySpace space>
ChangedBytes<space> changed_bytes(const codec::ChangesView<space>& changes) {
    static_assert(sizeof(codec::Summary) % sizeof(changes.summaries->count) == 0);
    return {changes.positions, changes.differences, &changes.summaries->count,
            sizeof(codec::Summary) / sizeof(changes.summaries->count), changes.capacity};
}

}  // namespace framewire
