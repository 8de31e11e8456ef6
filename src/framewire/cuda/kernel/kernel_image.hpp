#pragma once

#include "framewire/core/host_device.hpp"
#include "framewire/core/view.hpp"

#include <cstdint>

namespace framewire::cuda {

/// What goes as one row, for views without gaps there: nothing but rows, each frame, or the whole batch.
enum class OneRow { none, frame, batch };

/// A batch of images in device memory, as a kernel takes it: one of its arguments or a member of one. Does not own.
template <class Byte>
struct KernelImage {
    Byte* data = nullptr;
    std::int64_t row_stride = 0, frame_stride = 0;  ///< in bytes; 0 where there is only one

    KernelImage() = default;
    KernelImage(Byte* first, std::int64_t row_bytes, std::int64_t frame_bytes)
        : data(first), row_stride(row_bytes), frame_stride(frame_bytes) {}
    explicit KernelImage(DeviceView<Byte> view, OneRow one_row = OneRow::none)
        : KernelImage(view.data(), one_row == OneRow::none ? view.row_stride_bytes() : 0,
                      one_row == OneRow::batch || view.shape().frames == 1 ? 0 : view.frame_stride_bytes()) {}

    FRAMEWIRE_HOST_DEVICE Byte* row(int frame, int y) const { return data + frame * frame_stride + y * row_stride; }

    /// The frames from `first` on.
    KernelImage from_frame(int first) const { return {data + first * frame_stride, row_stride, frame_stride}; }

    /// Whether every row begins at a multiple of `bytes`, a power of two.
    bool aligned_to(std::uintptr_t bytes) const {
        return ((reinterpret_cast<std::uintptr_t>(data) | static_cast<std::uintptr_t>(row_stride) |
                 static_cast<std::uintptr_t>(frame_stride)) &
                (bytes - 1)) == 0;
    }
};

}  // namespace framewire::cuda
