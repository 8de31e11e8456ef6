#pragma once

#include "framewire/core/view.hpp"
#include "framewire/media/ffmpeg/libav.hpp"

#include <memory>

struct AVFilterGraph;
struct AVFilterContext;

namespace framewire {

/// Pictures of 256 colours, chosen anew for each picture by FFmpeg's palettegen and paletteuse.
class GifPalette {
public:
    /// For BGR0 pictures of a shape. Throws Error{config} where this FFmpeg lacks the filters.
    GifPalette(const Shape& shape, AVRational time_base);
    ~GifPalette();
    GifPalette(const GifPalette&) = delete;
    GifPalette& operator=(const GifPalette&) = delete;

    /// The same picture, PAL8, with its time; stays until the next call. Throws Error{io}.
    const AVFrame& reduce(AVFrame& picture);

private:
    AVFilterGraph* graph_ = nullptr;
    AVFilterContext* in_ = nullptr;
    AVFilterContext* out_ = nullptr;
    FramePointer reduced_ = make_frame();
};

}  // namespace framewire
