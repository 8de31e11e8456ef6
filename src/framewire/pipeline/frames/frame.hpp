#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/cuda/transfer.hpp"
#include "framewire/cuda/twin.hpp"

#include <cstdint>

namespace framewire {

/// One frame on its way through a run: an image on the host, where sources write it and sinks read it, and on the CUDA
/// backend its twin on the GPU, where stages work. It goes up once, however many stages look at it, or comes into
/// being there, by a source or a filter, and goes down where somebody wants it; neither keeps the caller or other
/// frames waiting. On the CPU backend both are one image. Used by one thread at a time. Move-only.
class Frame {
public:
    Frame() = default;
    /// Uninitialised. Keeps a reference to `executor`. Throws Error{usage} on a shape that is not allowed,
    /// Error{config} without memory.
    Frame(const Shape& shape, Executor& executor)
        : image_(executor, shape), host_(image_.host().view()), transfer_(executor) {}
    /// The same with memory of somebody else's for the host's image, of a frame that nobody wants on the host by the
    /// time this one comes down. With the CUDA backend only.
    Frame(HostView<std::uint8_t> host, Executor& executor)
        : image_(cuda::Twin<ImageIn>::on_gpu(executor, host.shape())), host_(host), transfer_(executor) {}

    const Shape& shape() const { return host_.shape(); }
    bool empty() const { return shape().height == 0; }

    /// What sources write and sinks read: pinned memory on the CUDA backend.
    HostView<std::uint8_t> host() { return host_; }
    HostView<const std::uint8_t> host() const { return host_; }

    /// For a source: where it writes the frame's next image on the host.
    HostView<std::uint8_t> fill_on_host() {
        filled_on_gpu_ = false;
        return host();
    }
    /// The same on the GPU, where it need not go up: queue(image, stream) queues what writes it, on a stream beside the
    /// executor's work. The host has it after upload() and download(). Only where has_gpu().
    template <class Queue>
    void fill_on_gpu(Queue&& queue) {
        filled_on_gpu_ = true;
        transfer_.begin_up([&](const cuda::Stream& stream) { queue(image_.device().view(), stream); });
    }
    bool has_gpu() const { return image_.device().shape().height > 0; }
    bool filled_on_gpu() const { return filled_on_gpu_; }

    /// What stages read and write, in the memory space that the backend works in.
    template <MemorySpace space>
    View<std::uint8_t, space> in() {
        return image_.in<space>().view();
    }

    /// Queues the host's image for the GPU, unless the source wrote it there. Work queued later on the executor's
    /// stream finds it.
    void upload() {
        if (filled_on_gpu_) return transfer_.join_up();
        transfer_.up([&](const cuda::Stream& stream) { cuda::upload(host(), image_.device().view(), stream); });
    }
    /// Queues the GPU's image, as the work queued so far leaves it, for the host, where it is after wait().
    void download() {
        transfer_.down([&](const cuda::Stream& stream) { cuda::download(image_.device().view(), host(), stream); });
    }
    /// Returns when what was queued last is over. Throws what it, or the work before it, failed with.
    void wait() { transfer_.wait(); }

private:
    cuda::Twin<ImageIn> image_;
    HostView<std::uint8_t> host_{};
    bool filled_on_gpu_ = false;
    cuda::Transfer transfer_;  // last: it is over before the images go
};

}  // namespace framewire
