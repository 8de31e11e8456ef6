#pragma once

#include "framewire/core/view.hpp"
#include "framewire/media/ffmpeg/filter_graph.hpp"

namespace framewire {

/// Pictures of 256 colours, chosen anew for each picture by FFmpeg's palettegen and paletteuse.
class GifPalette {
public:
    /// For BGR0 pictures of a shape. Throws Error{config} where this FFmpeg lacks the filters.
    GifPalette(const Shape& shape, AVRational time_base);

    /// The same picture, PAL8, with its time; stays until the next call. Throws Error{io}.
    const AVFrame& reduce(AVFrame& picture) { return graph_.run(picture); }

private:
    FilterGraph graph_;
};

}  // namespace framewire
