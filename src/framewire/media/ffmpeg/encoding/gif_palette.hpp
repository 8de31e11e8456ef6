#pragma once

#include "framewire/core/view.hpp"
#include "framewire/media/ffmpeg/filter_graph.hpp"

namespace framewire {

/// Reduces pictures to 256 colours, chosen separately for each picture by FFmpeg's palettegen and paletteuse.
class GifPalette {
public:
    /// Prepares for BGR0 pictures of a shape. Throws Error{config} if this FFmpeg lacks the filters.
    GifPalette(const Shape& shape, AVRational time_base);

    /// Converts a picture to PAL8 and keeps its time. The result is valid until the next call. Throws Error{io}.
    const AVFrame& reduce(AVFrame& picture) { return graph_.run(picture); }

private:
    FilterGraph graph_;
};

}  // namespace framewire
