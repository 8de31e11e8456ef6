#pragma once

// Owning pointers for libavutil's frames. ffmpeg/libav.hpp has the types that need more of FFmpeg.

#include "framewire/core/error.hpp"

extern "C" {
#include <libavutil/frame.h>
}

#include <memory>

namespace framewire {

/// Deleter for AVFrame.
struct FreeFrame {
    void operator()(AVFrame* frame) const noexcept { av_frame_free(&frame); }
};
/// Owned AVFrame.
using FramePointer = std::unique_ptr<AVFrame, FreeFrame>;

/// Allocates a frame without a picture. Throws Error{config} if memory is exhausted.
inline FramePointer make_frame() {
    FramePointer frame(av_frame_alloc());
    if (!frame) fail(ErrorCode::config, "no memory for a frame");
    return frame;
}

/// Allocates a frame with memory for its picture; rows are padded as FFmpeg's functions require. Throws Error{config}
/// if memory is exhausted.
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
