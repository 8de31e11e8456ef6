#pragma once

#include "framewire/media/ffmpeg/libav.hpp"

#include <string>

struct AVFilterGraph;
struct AVFilterContext;

namespace framewire {

/// FFmpeg's filters at work on pictures in memory. libavfilter is loaded with the first one.
class FilterGraph {
public:
    /// `description` as avfilter_graph_parse2() reads it, from a source "buffer@in=..." to a sink "buffersink@out".
    /// `threads`: how many the filters may use, 0 for as many as there are cores. Throws Error{config} where this
    /// FFmpeg lacks the filters.
    explicit FilterGraph(const std::string& description, int threads = 0);
    ~FilterGraph();
    FilterGraph(const FilterGraph&) = delete;
    FilterGraph& operator=(const FilterGraph&) = delete;

    /// What becomes of a picture, with its time; stays until the next call. Throws Error{io}.
    const AVFrame& run(AVFrame& picture);

private:
    AVFilterGraph* graph_ = nullptr;
    AVFilterContext* in_ = nullptr;
    AVFilterContext* out_ = nullptr;
    FramePointer result_ = make_frame();
};

}  // namespace framewire
