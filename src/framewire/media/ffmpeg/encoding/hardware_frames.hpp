#pragma once

#include "framewire/media/ffmpeg/libav.hpp"

extern "C" {
#include <libavutil/buffer.h>
}

#include <memory>

namespace framewire {

/// Frames in the memory of a VA-API device, which its encoders read.
class HardwareFrames {
public:
    /// Opens the machine's device and sets `context`, which must not be open yet, to NV12 frames of that device with
    /// the context's size. Throws Error{config} if there is no device.
    explicit HardwareFrames(AVCodecContext& context);

    /// Copies an NV12 picture to the device and keeps its time. The result is valid until the next call.
    const AVFrame& upload(const AVFrame& picture);

private:
    struct FreeBuffer {
        void operator()(AVBufferRef* buffer) const noexcept { av_buffer_unref(&buffer); }
    };
    std::unique_ptr<AVBufferRef, FreeBuffer> device_, frames_;
    FramePointer uploaded_;
};

}  // namespace framewire
