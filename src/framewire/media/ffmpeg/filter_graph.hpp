#pragma once

#include "framewire/media/ffmpeg/libav.hpp"

#include <string>

struct AVFilterGraph;
struct AVFilterContext;

namespace framewire {

/// FFmpeg filter graph for pictures in memory. libavfilter is loaded when the first graph is made.
class FilterGraph {
public:
    /// `description` is parsed by avfilter_graph_parse2(), from a source "buffer@in=..." to a sink "buffersink@out".
    /// `threads` is the number of filter threads; 0: one per core. Throws Error{config} if this FFmpeg lacks a filter.
    explicit FilterGraph(const std::string& description, int threads = 0);
    ~FilterGraph();
    FilterGraph(const FilterGraph&) = delete;
    FilterGraph& operator=(const FilterGraph&) = delete;

    /// Filters one picture and keeps its time. The result is valid until the next call. Throws Error{io}.
    const AVFrame& run(AVFrame& picture);

private:
    AVFilterGraph* graph_ = nullptr;
    AVFilterContext* in_ = nullptr;
    AVFilterContext* out_ = nullptr;
    FramePointer result_ = make_frame();
};

}  // namespace framewire
