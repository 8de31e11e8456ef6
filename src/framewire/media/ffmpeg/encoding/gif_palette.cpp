#include "framewire/media/ffmpeg/encoding/gif_palette.hpp"

#include "framewire/core/late_library/late_library.hpp"

extern "C" {
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
}

namespace framewire {
namespace {

// The functions of libavfilter that are called here, by their own names.
struct FilterFunctions {
    const LateLibrary library{"libavfilter.so." AV_STRINGIFY(LIBAVFILTER_VERSION_MAJOR)};
#define FRAMEWIRE_FUNCTION(name) decltype(&::name) name = library.function<decltype(::name)>(#name)
    FRAMEWIRE_FUNCTION(avfilter_graph_alloc);
    FRAMEWIRE_FUNCTION(avfilter_graph_config);
    FRAMEWIRE_FUNCTION(avfilter_graph_free);
    FRAMEWIRE_FUNCTION(avfilter_graph_get_filter);
    FRAMEWIRE_FUNCTION(avfilter_graph_parse2);
    FRAMEWIRE_FUNCTION(avfilter_inout_free);
    FRAMEWIRE_FUNCTION(av_buffersink_get_frame);
    FRAMEWIRE_FUNCTION(av_buffersrc_add_frame_flags);
#undef FRAMEWIRE_FUNCTION
};

const FilterFunctions& filters() {
    static const FilterFunctions functions;
    return functions;
}

}  // namespace

GifPalette::GifPalette(const Shape& shape, AVRational time_base) {
    const auto description = fmt::format(
        "buffer@in=video_size={}x{}:pix_fmt={}:time_base={}/{},format=bgra,split[a][b];"
        "[a]palettegen=stats_mode=single:reserve_transparent=0[p];[b][p]paletteuse=new=1,buffersink@out",
        shape.width, shape.height, static_cast<int>(AV_PIX_FMT_BGR0), time_base.num, time_base.den);
    graph_ = filters().avfilter_graph_alloc();
    AVFilterInOut *inputs = nullptr, *outputs = nullptr;
    int error =
        graph_ ? filters().avfilter_graph_parse2(graph_, description.c_str(), &inputs, &outputs) : AVERROR(ENOMEM);
    if (error >= 0) error = filters().avfilter_graph_config(graph_, nullptr);
    filters().avfilter_inout_free(&inputs);
    filters().avfilter_inout_free(&outputs);
    if (error >= 0) {
        in_ = filters().avfilter_graph_get_filter(graph_, "buffer@in");
        out_ = filters().avfilter_graph_get_filter(graph_, "buffersink@out");
    }
    if (in_ && out_) return;
    filters().avfilter_graph_free(&graph_);
    fail(ErrorCode::config, "no palettes for GIF: {}", ffmpeg_error(error));
}

GifPalette::~GifPalette() { filters().avfilter_graph_free(&graph_); }

const AVFrame& GifPalette::reduce(AVFrame& picture) {
    av_frame_unref(reduced_.get());
    int error =
        filters().av_buffersrc_add_frame_flags(in_, &picture, AV_BUFFERSRC_FLAG_KEEP_REF | AV_BUFFERSRC_FLAG_PUSH);
    if (error >= 0) error = filters().av_buffersink_get_frame(out_, reduced_.get());
    if (error < 0) fail(ErrorCode::io, "no palette for a picture of the GIF: {}", ffmpeg_error(error));
    return *reduced_;
}

}  // namespace framewire
