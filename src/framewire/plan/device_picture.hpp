#pragma once

#include "framewire/colour/yuv.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/stream.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace framewire {

/// Planes of one picture in GPU memory, which one stream writes and others read. Uses follow each other in the order of
/// the calls, whatever their streams, so that memory can be used again while earlier work on it is still queued.
/// Thread-safe.
class DevicePicture {
public:
    /// Allocates a picture on the current GPU with the planes of `info`, uninitialised. Throws Error{config} if there
    /// is not enough memory.
    explicit DevicePicture(const YuvInfo& info)
        : info_(info), memory_(static_cast<std::size_t>(info.frame_bytes())), used_(cuda::Event::Timing::none) {}

    /// Returns the description that the constructor got. Only the format and the sizes matter to this class.
    const YuvInfo& info() const { return info_; }

    /// Calls queue(planes), which queues work on `stream` that writes the planes.
    template <class Queue>
    void write(const cuda::Stream& stream, Queue&& queue) {
        use(stream, [&] { queue(DeviceYuv<std::uint8_t>(memory_.data(), info_)); });
    }
    /// Calls queue(planes), which queues work on `stream` that reads the planes. `info` describes them; its format and
    /// sizes are those of info().
    template <class Queue>
    void read(const YuvInfo& info, const cuda::Stream& stream, Queue&& queue) const {
        use(stream, [&] { queue(DeviceYuv<const std::uint8_t>(memory_.data(), info)); });
    }

private:
    template <class Work>
    void use(const cuda::Stream& stream, Work&& work) const {
        const std::lock_guard lock(mutex_);
        used_.make_wait(stream);
        work();
        used_.record(stream);
    }

    YuvInfo info_;
    cuda::DeviceBuffer memory_;
    mutable std::mutex mutex_;
    mutable cuda::Event used_;  // end of the last use; guarded by mutex_
};

/// Pool that reuses pictures of one format and size, with a stream of its own for the work that fills them. A picture
/// returns to the pool when its last owner releases it, from any thread, even after the pool has been destroyed.
/// Thread-safe.
class DevicePicturePool {
public:
    /// Makes an empty pool of pictures on the current GPU. Throws Error{config} if there is none.
    DevicePicturePool() : shared_(std::make_shared<Shared>()) {}

    /// Returns the stream for work that fills pictures.
    const cuda::Stream& stream() const { return shared_->stream; }
    /// Returns a picture with unspecified samples. If `info` differs from that of the previous call, the unused
    /// pictures are freed. Throws the errors of DevicePicture's constructor.
    std::shared_ptr<DevicePicture> take(const YuvInfo& info);

    /// Returns a copy of a picture of this pool in pinned memory of the host. Blocks until it is there.
    std::shared_ptr<const YuvPicture> download(const DevicePicture& picture, const YuvInfo& info) const;

private:
    // Shared with the deleters of the pictures in use.
    struct Shared {
        cuda::Stream stream;
        YuvPicturePool on_host{cuda::pinned_memory()};
        std::mutex mutex;
        std::vector<std::unique_ptr<DevicePicture>> free;  // guarded by mutex
    };
    std::shared_ptr<Shared> shared_;
};

/// A native frame's picture in GPU memory, with its description.
struct PictureOnGpu {
    const DevicePicture* picture;  ///< valid as long as the native frame
    YuvInfo info{};                ///< format, sizes, coding and siting

    /// See DevicePicture::read().
    template <class Queue>
    void read(const cuda::Stream& stream, Queue&& queue) const {
        picture->read(info, stream, std::forward<Queue>(queue));
    }
};

}  // namespace framewire
