#pragma once

#include "framewire/media/conversion/colour.hpp"
#include "framewire/media/media.hpp"
#include "framewire/media/sinks/sink_kind.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace framewire {

/// The first line of a YUV4MPEG2 stream, as far as framewire needs it.
struct Y4mHeader {
    int width = 0;
    int height = 0;
    Rational rate{25, 1};
    AVPixelFormat format = AV_PIX_FMT_YUV420P;
    AVChromaLocation chroma = AVCHROMA_LOC_CENTER;
    YuvCoding coding{};
    Rational pixel_aspect{1, 1};
    bool matrix_assumed = false;  ///< always so for colour: y4m has no tag for it
    bool range_assumed = false;

    /// Of one picture without its FRAME line.
    std::int64_t picture_bytes() const;
};

/// Reads "YUV4MPEG2 W1920 H1080 F30:1 C420jpeg XCOLORRANGE=FULL", without the line's end: mono, 4:2:0, 4:2:2 and 4:4:4
/// of 8 to 16 bits, 4:1:1 and 4:4:4 with alpha. `name` is for messages. Throws Error{no_input} on anything else, saying
/// what is read.
Y4mHeader parse_y4m_header(std::string_view line, std::string_view name, std::int64_t max_pixels);

/// y4m from a path, or from standard input for "-". Mono gives 1 channel. Throws as open_source() does.
std::unique_ptr<Source> open_y4m_source(const std::string& path, const SourceOptions& options);

/// y4m to a path, or to standard output for "-". Colour has the chroma, its sites and the range of the medium that the
/// frames come from (options.facts); without one it is 4:4:4 of full range. Gray is mono. Frames that no filter touched
/// are written as they were decoded.
std::unique_ptr<Sink> open_y4m_sink(const SinkCall& call, const Shape& frame, Rational rate,
                                    const SinkOptions& options);

/// `pixels` and `range`, which say otherwise.
std::vector<ParameterInfo> y4m_sink_parameters();

}  // namespace framewire
