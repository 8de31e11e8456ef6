#pragma once

// libavutil's frames as owned objects; what needs more of FFmpeg is in ffmpeg/libav.hpp.

#include "framewire/core/error.hpp"

extern "C" {
#include <libavutil/frame.h>
}

#include <memory>

namespace framewire {

struct FreeFrame {
    void operator()(AVFrame* frame) const noexcept { av_frame_free(&frame); }
};
using FramePointer = std::unique_ptr<AVFrame, FreeFrame>;

inline FramePointer make_frame() {
    FramePointer frame(av_frame_alloc());
    if (!frame) fail(ErrorCode::config, "no memory for a frame");
    return frame;
}

/// A frame with memory for its picture, rows padded as FFmpeg's functions want them.
inline FramePointer make_frame(AVPixelFormat format, int width, int height) {
    auto frame = make_frame();
    frame->format = format;
    frame->width = width;
    frame->height = height;
    if (av_frame_get_buffer(frame.get(), 0) < 0)
        fail(ErrorCode::config, "no memory for a picture of {}x{}", width, height);
    return frame;
}

}  // namespace framewire
