#pragma once

#include "framewire/media/ffmpeg/libav.hpp"

extern "C" {
#include <libavutil/buffer.h>
}

#include <memory>

namespace framewire {

/// Pictures in the memory of a VA-API device, which its encoders read.
class HardwareFrames {
public:
    /// Opens the machine's device and sets `context`, which is not open yet, to its NV12 pictures of the context's
    /// size. Throws Error{config} where there is no device.
    explicit HardwareFrames(AVCodecContext& context);

    /// A picture of NV12 as the device has it, with its time; stays until the next call.
    const AVFrame& upload(const AVFrame& picture);

private:
    struct FreeBuffer {
        void operator()(AVBufferRef* buffer) const noexcept { av_buffer_unref(&buffer); }
    };
    std::unique_ptr<AVBufferRef, FreeBuffer> device_, frames_;
    FramePointer uploaded_;
};

}  // namespace framewire
