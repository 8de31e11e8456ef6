#pragma once

#include "framewire/c/boundary.hpp"
#include "framewire/colour/yuv.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/cuda/foreign.hpp"
#include "framewire/plan/frame.hpp"
#include "framewire/plan/work_picture.hpp"

#include <cstdint>
#include <optional>
#include <utility>

namespace framewire::c {

/// Returns the format and size that a caller's image describes. Throws Error{usage} if a member is not allowed.
FrameFormat format_from(const fw_image& image, const char* what);

/// Returns the shape of an image that must be gray or BGR.
Shape shape_of(const fw_image* image, const char* what);

/// Returns true if fw_image can describe the format.
bool is_known(const FrameFormat& format);

/// Stores format, size and strides in a caller's image, whose other members stay.
void put_format(const FrameFormat& format, fw_image& image);

/// A caller's image whose members have been checked.
class CallerImage {
public:
    /// Checks the image. Throws Error{usage} if it has another format or size than `wanted`, no memory, or too small
    /// strides. `what` is the name of the argument.
    CallerImage(const fw_image* image, const FrameFormat& wanted, const char* what);
    /// Checks an image of any format and size.
    CallerImage(const fw_image* image, const char* what)
        : CallerImage(image, format_from(take(at(image, what), what), what), what) {}

    /// Returns the format.
    const FrameFormat& format() const { return format_; }
    /// Returns the number of the GPU, if the image is in its memory.
    int device() const { return image_.device; }
    /// Returns true if the image is in the memory of a GPU.
    bool on_device() const { return image_.memory == FW_DEVICE; }
    /// Throws Error{usage} if the image is in device memory.
    void require_host() const;
    /// Throws Error{usage} if two images have bytes in common.
    void require_apart(const CallerImage& other) const;
    /// Throws Error{usage} if the image is in device memory, but not in that of this GPU.
    void require_on(int device) const;
    /// Throws Error{usage} unless `executor` reaches the image.
    void require_reach(const Executor& executor) const;

    /// Returns a view of the image. `space` must be its memory.
    template <class T, MemorySpace space>
    PictureView<T, space> view() const;

private:
    // Addresses of a plane's first byte and the one after its last, and the sizes of its rows.
    struct PlaneMemory {
        std::uintptr_t begin, end, stride, row_bytes;
    };
    PlaneMemory memory_of(int plane) const;
    static bool overlap(const PlaneMemory& one, const PlaneMemory& other);

    fw_image image_;
    FrameFormat format_;
    const char* what_;
};

/// Returns a view of a caller's image that must have this shape and be in host memory.
HostView<const std::uint8_t> host_view(const fw_image* image, const Shape& shape, const char* what);

/// Calls copy(from, to) for each plane of two pictures of the same format, as images.
template <class From, class To, class Copy>
void for_planes(const From& from, const To& to, Copy&& copy) {
    if (!from.has_planes()) return copy(from.image, to.image);
    for (int plane = 0; plane < from.planes.info.planes(); ++plane)
        copy(image_of_plane(from.planes, plane), image_of_plane(to.planes, plane));
}

/// Copies a picture in host memory.
void copy_on_host(const PictureView<const std::uint8_t, MemorySpace::host>& from,
                  const PictureView<std::uint8_t, MemorySpace::host>& to);

/// Does the work of a handle.
class Worker {
public:
    /// Throws Error{usage} if a setting is not allowed, and what Executor throws.
    explicit Worker(const fw_settings* settings) : Worker(take_optional(settings, "settings")) {}
    explicit Worker(const fw_settings& settings);
    Worker(const Worker&) = delete;

    /// Returns the executor, whose GPU may become the current one of the thread during this call.
    Executor& executor() {
        if (uses_gpu()) keep_current_gpu();
        return executor_;
    }
    /// Returns true if the work is done on a GPU.
    bool uses_gpu() const { return order_.has_value(); }

    /// Calls `queue`, which queues work on the executor's stream, between what the caller has queued on `stream` and
    /// what the caller queues there later. If an image is in host memory, waits until the work is done.
    template <class Queue>
    void run(void* stream, bool has_device_images, bool has_host_images, Queue&& queue) {
        const bool orders = has_device_images && order_;
        if (orders) order_->enter(stream, executor_.stream());
        queue();
        if (orders) order_->leave(executor_.stream(), stream);
        if (has_host_images) executor_.synchronize();
    }
    /// Makes the work of one of the executor's streams wait for what the caller has queued on `stream`.
    void enter(void* stream, const cuda::Stream& own) { order_->enter(stream, own); }

private:
    Executor executor_;
    std::optional<cuda::ForeignOrder> order_;  // empty on the CPU
};

/// Memory of the backend for a caller's image that is elsewhere.
class Staging {
public:
    /// Returns the picture in the memory of the backend, after queueing its upload if it is elsewhere.
    template <MemorySpace space>
    PictureView<const std::uint8_t, space> read(const CallerImage& image, const FrameFormat& format,
                                                const Executor& executor) {
        if ((space == MemorySpace::device) == image.on_device()) return image.view<const std::uint8_t, space>();
        const auto to = memory<space>(format, executor);
        if constexpr (space == MemorySpace::device)
            for_planes(image.view<const std::uint8_t, MemorySpace::host>(), to,
                       [&](const auto& from, const auto& up) { cuda::upload(from, up, executor.stream()); });
        return to;
    }
    /// Returns the memory in which the backend makes the picture.
    template <MemorySpace space>
    PictureView<std::uint8_t, space> write(const CallerImage& image, const FrameFormat& format,
                                           const Executor& executor) {
        if ((space == MemorySpace::device) == image.on_device()) return image.view<std::uint8_t, space>();
        return memory<space>(format, executor);
    }
    /// Queues the download of what was written, unless the backend wrote it into the caller's memory.
    template <MemorySpace space>
    void deliver(const CallerImage& image, const PictureView<std::uint8_t, space>& made, const Executor& executor) {
        if constexpr (space == MemorySpace::device)
            if (!image.on_device())
                for_planes(PictureView<const std::uint8_t, space>(made), image.view<std::uint8_t, MemorySpace::host>(),
                           [&](const auto& from, const auto& to) { cuda::download(from, to, executor.stream()); });
    }

private:
    template <MemorySpace space>
    PictureView<std::uint8_t, space> memory(const FrameFormat& format, const Executor& executor) {
        if (!picture_) picture_.emplace(format, executor);
        return picture_->view<space>();
    }

    std::optional<WorkPicture> picture_;
};

}  // namespace framewire::c
