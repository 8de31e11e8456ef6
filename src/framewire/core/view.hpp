#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace framewire {

/// Largest width and height of an image, in pixels.
inline constexpr int max_side_px = 16384;

/// Shape of a batch of equally sized images: frames x height x width x channels, 8 bits per channel. One channel is
/// gray; three are B, G, R, interleaved.
struct Shape {
    int frames = 1;
    int height = 0;
    int width = 0;
    int channels = 0;

    /// Returns the bytes of one row. Sizes do not include gaps.
    constexpr std::int64_t row_bytes() const { return std::int64_t{width} * channels; }
    /// Returns the bytes of one frame.
    constexpr std::int64_t frame_bytes() const { return row_bytes() * height; }
    /// Returns the bytes of the batch.
    constexpr std::int64_t bytes() const { return frame_bytes() * frames; }
    /// Returns the rows of the batch.
    constexpr std::int64_t rows() const { return std::int64_t{frames} * height; }
    /// Returns the same shape with another number of channels.
    constexpr Shape with_channels(int count) const { return {frames, height, width, count}; }
    /// Returns the same shape with another number of frames.
    constexpr Shape with_frames(int count) const { return {count, height, width, channels}; }

    friend constexpr bool operator==(const Shape&, const Shape&) = default;
};

/// Returns "1920x1080 BGR", with " x 32" appended for a batch, for messages.
std::string to_string(const Shape& shape);

/// Throws Error{usage} unless both sides are 1 to max_side_px, channels are 1 or 3 and frames are at least 1. `what`
/// names the image in the message.
void validate(const Shape& shape, const char* what);

/// Memory that holds the bytes of a view. It is part of the view's type, so passing a device view to host code does not
/// compile.
enum class MemorySpace { host, device };

/// A batch of images in memory: a pointer, a shape and two strides in bytes. Does not own. Pixels within a row are
/// dense, with interleaved channels; rows and frames may have gaps after them.
template <class T, MemorySpace space>
class View {
    static_assert(sizeof(T) == 1, "images are 8-bit");

public:
    constexpr View() = default;

    /// Makes a view without gaps between rows and frames.
    constexpr View(T* data, Shape shape) : View(data, shape, shape.row_bytes(), shape.frame_bytes()) {}

    /// Makes a view with gaps. Strides are in bytes and are not validated here; see validate().
    constexpr View(T* data, Shape shape, std::int64_t row_stride_bytes, std::int64_t frame_stride_bytes)
        : data_(data), shape_(shape), row_stride_bytes_(row_stride_bytes), frame_stride_bytes_(frame_stride_bytes) {}

    /// Converts a writable view to a read-only view.
    template <class Const>
    requires(std::is_same_v<Const, const T> && !std::is_const_v<T>) constexpr operator View<Const, space>() const {
        return {data_, shape_, row_stride_bytes_, frame_stride_bytes_};
    }

    /// Returns a pointer to the first row.
    constexpr T* data() const { return data_; }
    /// Returns the shape of the images.
    constexpr const Shape& shape() const { return shape_; }
    /// Returns the distance from one row to the next, in bytes.
    constexpr std::int64_t row_stride_bytes() const { return row_stride_bytes_; }
    /// Returns the distance from one frame to the next, in bytes.
    constexpr std::int64_t frame_stride_bytes() const { return frame_stride_bytes_; }

    /// Returns row `y` of frame `frame`. Indices are not checked.
    constexpr T* row(int frame, int y) const { return data_ + frame * frame_stride_bytes_ + y * row_stride_bytes_; }

    /// Returns row `index` of the batch, counted through all frames.
    constexpr T* batch_row(std::int64_t index) const {
        return row(static_cast<int>(index / shape_.height), static_cast<int>(index % shape_.height));
    }

    /// Returns a view of `count` frames, starting with frame `first`.
    constexpr View frames(int first, int count) const {
        return {data_ + first * frame_stride_bytes_, shape_.with_frames(count), row_stride_bytes_, frame_stride_bytes_};
    }

    /// Returns true if rows follow each other without gaps within each frame.
    constexpr bool dense_rows() const { return row_stride_bytes_ == shape_.row_bytes(); }
    /// Returns true if the batch is one contiguous range of bytes.
    constexpr bool dense() const {
        return dense_rows() && (shape_.frames == 1 || frame_stride_bytes_ == shape_.frame_bytes());
    }

private:
    T* data_ = nullptr;
    Shape shape_{};
    std::int64_t row_stride_bytes_ = 0;
    std::int64_t frame_stride_bytes_ = 0;
};

/// View of images in host memory.
template <class T>
using HostView = View<T, MemorySpace::host>;
/// View of images in device memory.
template <class T>
using DeviceView = View<T, MemorySpace::device>;

/// Throws Error{usage} unless `view` has the shape `shape`, memory, and strides that hold it. `what` names the image in
/// the message.
template <class T, MemorySpace space>
void validate(const View<T, space>& view, const Shape& shape, const char* what);

/// Copies a batch row by row. Throws Error{usage} if the shapes differ. The views must not overlap.
void copy(HostView<const std::uint8_t> from, HostView<std::uint8_t> to);

namespace detail {
void validate_view(const void* data, const Shape& have, std::int64_t row_stride_bytes, std::int64_t frame_stride_bytes,
                   const Shape& want, const char* what);
}

template <class T, MemorySpace space>
void validate(const View<T, space>& view, const Shape& shape, const char* what) {
    detail::validate_view(view.data(), view.shape(), view.row_stride_bytes(), view.frame_stride_bytes(), shape, what);
}

/// One connected component of a mask: its number, bounding box, area, and the sums of its pixels' coordinates.
/// Detectors produce components, and streams carry them.
struct Component {
    std::int32_t id;  ///< 1-based, in raster order of the components' first pixels within the frame
    /// Bounding box in pixels: left column, top row, and size.
    std::int32_t x, y, width, height;
    std::int32_t area;  ///< pixels
    /// Sums of the pixels' columns and rows; divided by `area` they give the centroid.
    std::int64_t sum_x, sum_y;

    friend constexpr bool operator==(const Component&, const Component&) = default;
};

}  // namespace framewire

/// Marks a function that both the host and CUDA kernels call. Without nvcc the macro is empty.
#ifdef __CUDACC__
#define FRAMEWIRE_HOST_DEVICE __host__ __device__
#else
#define FRAMEWIRE_HOST_DEVICE
#endif
