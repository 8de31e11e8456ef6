// FFmpeg's filters, for the palettes of GIF. libavfilter is loaded at run time, because no other format needs it.

#include "framewire/media/ffmpeg/filter_graph.hpp"

#include "framewire/core/late_library/late_library.hpp"

extern "C" {
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
}

namespace framewire {
namespace {

// Functions of libavfilter that are used here, under their own names.
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

// Loads libavfilter on first use.
const FilterFunctions& filters() {
    static const FilterFunctions functions;
    return functions;
}

}  // namespace

FilterGraph::FilterGraph(const std::string& description, int threads) {
    graph_ = filters().avfilter_graph_alloc();
    if (graph_) graph_->nb_threads = threads;
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
    fail(ErrorCode::config, "FFmpeg has no filters like '{}': {}", description, ffmpeg_error(error));
}

FilterGraph::~FilterGraph() { filters().avfilter_graph_free(&graph_); }

const AVFrame& FilterGraph::run(AVFrame& picture) {
    av_frame_unref(result_.get());
    int error =
        filters().av_buffersrc_add_frame_flags(in_, &picture, AV_BUFFERSRC_FLAG_KEEP_REF | AV_BUFFERSRC_FLAG_PUSH);
    if (error >= 0) error = filters().av_buffersink_get_frame(out_, result_.get());
    if (error < 0) fail(ErrorCode::io, "FFmpeg's filters make nothing of a picture: {}", ffmpeg_error(error));
    return *result_;
}

}  // namespace framewire
