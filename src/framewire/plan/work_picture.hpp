#pragma once

#include "framewire/colour/yuv.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/executor.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace framewire {

/// Pixel format and size of a frame's picture: an image of gray or BGR bytes, or the planes of YUV.
class FrameFormat {
public:
    FrameFormat() = default;
    /// Makes the format of images of `shape`.
    explicit FrameFormat(const Shape& shape) : shape_(shape) {}
    /// Makes the format of pictures of planes.
    explicit FrameFormat(const YuvInfo& planes)
        : shape_{planes.frames, planes.height, planes.width, 3}, planes_(planes) {}

    /// Returns the shape of images, or that of images in BGR to which planes can be converted.
    const Shape& shape() const { return shape_; }
    /// Returns the description of planes; empty for images.
    const std::optional<YuvInfo>& planes() const { return planes_; }
    /// Returns the bytes of a picture, whose rows are not padded.
    std::int64_t bytes() const { return planes_ ? planes_->frame_bytes() * planes_->frames : shape_.bytes(); }

    friend bool operator==(const FrameFormat&, const FrameFormat&) = default;

private:
    Shape shape_{};
    std::optional<YuvInfo> planes_;
};

/// Returns "BGR", "gray" or "4:2:0, chroma left", for messages and tables.
std::string to_string(const FrameFormat& format);

/// View of a picture of a FrameFormat, in one memory space. Does not own.
template <class T, MemorySpace space>
struct PictureView {
    View<T, space> image{};      ///< an image, or empty
    YuvView<T, space> planes{};  ///< planes, if there is no image

    constexpr PictureView() = default;
    constexpr PictureView(View<T, space> whole) : image(whole) {}      ///< shows an image
    constexpr PictureView(YuvView<T, space> whole) : planes(whole) {}  ///< shows planes

    /// Returns true if the view shows planes.
    constexpr bool has_planes() const { return planes.info.height > 0; }

    /// Converts a writable view to a read-only view.
    template <class Const>
    requires(std::is_same_v<Const, const T> && !std::is_const_v<T>) constexpr operator PictureView<Const, space>()
        const {
        PictureView<Const, space> view;
        if (has_planes())
            view.planes = planes;
        else
            view.image = image;
        return view;
    }
};

/// Owns memory for one picture in the memory of an executor's backend, uninitialised. Move-only.
class WorkPicture {
public:
    WorkPicture() = default;
    /// Allocates a picture, as BackendBuffer does.
    WorkPicture(const FrameFormat& format, const Executor& executor)
        : WorkPicture(format, BackendBuffer(static_cast<std::size_t>(format.bytes()), executor)) {}
    /// Uses a buffer, which must be large enough.
    WorkPicture(const FrameFormat& format, BackendBuffer buffer) : format_(format), buffer_(std::move(buffer)) {}

    /// Returns the format passed to the constructor.
    const FrameFormat& format() const { return format_; }
    /// Returns a view of the planes, which the format must have. `space` must be the backend's memory space.
    template <MemorySpace space>
    YuvView<std::uint8_t, space> planes() const {
        return {buffer_.data(), *format_.planes()};
    }
    /// Returns a view of the picture. `space` must be the backend's memory space.
    template <MemorySpace space>
    PictureView<std::uint8_t, space> view() const {
        if (format_.planes()) return planes<space>();
        return View<std::uint8_t, space>(buffer_.data(), format_.shape());
    }

private:
    FrameFormat format_;
    BackendBuffer buffer_;
};

}  // namespace framewire
