#pragma once

#include "framewire/core/view.hpp"

#include <cstdint>

namespace framewire::cuda {

/// Parts of a batch that a kernel may treat as one long row because they have no gaps: single rows only, each
/// frame, or the whole batch.
enum class OneRow { none, frame, batch };

/// A batch of images in device memory, as an argument of kernels. Does not own.
template <class Byte>
struct KernelImage {
    /// First byte of row 0 of frame 0.
    Byte* data = nullptr;
    std::int64_t row_stride = 0, frame_stride = 0;  ///< in bytes; 0 if there is only one row or frame

    KernelImage() = default;
    /// Makes an image with the given strides in bytes.
    KernelImage(Byte* first, std::int64_t row_bytes, std::int64_t frame_bytes)
        : data(first), row_stride(row_bytes), frame_stride(frame_bytes) {}
    /// Makes the image of `view`. `one_row` sets the strides that are not needed to 0.
    explicit KernelImage(DeviceView<Byte> view, OneRow one_row = OneRow::none)
        : KernelImage(view.data(), one_row == OneRow::none ? view.row_stride_bytes() : 0,
                      one_row == OneRow::batch || view.shape().frames == 1 ? 0 : view.frame_stride_bytes()) {}

    /// Returns row `y` of frame `frame`, on the host or in a kernel.
    FRAMEWIRE_HOST_DEVICE Byte* row(int frame, int y) const { return data + frame * frame_stride + y * row_stride; }

    /// Returns the frames starting with `first`.
    KernelImage from_frame(int first) const { return {data + first * frame_stride, row_stride, frame_stride}; }

    /// Returns true if every row starts at a multiple of `bytes`, a power of two, so that kernels can use
    /// vector loads.
    bool aligned_to(std::uintptr_t bytes) const {
        return ((reinterpret_cast<std::uintptr_t>(data) | static_cast<std::uintptr_t>(row_stride) |
                 static_cast<std::uintptr_t>(frame_stride)) &
                (bytes - 1)) == 0;
    }
};

}  // namespace framewire::cuda
