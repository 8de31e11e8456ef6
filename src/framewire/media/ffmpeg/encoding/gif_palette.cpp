#include "framewire/media/ffmpeg/encoding/gif_palette.hpp"

#include <fmt/format.h>

namespace framewire {

// palettegen with stats_mode=single makes a palette per frame, and paletteuse with new=1 applies it to the same frame.
GifPalette::GifPalette(const Shape& shape, AVRational time_base)
    : graph_(
          fmt::format("buffer@in=video_size={}x{}:pix_fmt={}:time_base={}/{},format=bgra,split[a][b];"
                      "[a]palettegen=stats_mode=single:reserve_transparent=0[p];[b][p]paletteuse=new=1,buffersink@out",
                      shape.width, shape.height, static_cast<int>(AV_PIX_FMT_BGR0), time_base.num, time_base.den)) {}

}  // namespace framewire
