#pragma once

#include "framewire/media/conversion.hpp"
#include "framewire/media/media.hpp"
#include "framewire/media/sinks.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace framewire {

/// Fields of a YUV4MPEG2 stream header that framewire uses.
struct Y4mHeader {
    int width = 0;
    int height = 0;
    Rational rate{25, 1};
    AVPixelFormat format = AV_PIX_FMT_YUV420P;
    AVChromaLocation chroma = AVCHROMA_LOC_CENTER;
    YuvCoding coding{};
    Rational pixel_aspect{1, 1};
    bool matrix_assumed = false;  ///< always true for colour: y4m has no matrix tag
    bool range_assumed = false;

    /// Returns the size of one picture in bytes, without its FRAME line.
    std::int64_t picture_bytes() const;
};

/// Parses "YUV4MPEG2 W1920 H1080 F30:1 C420jpeg XCOLORRANGE=FULL", without the line end: mono, 4:2:0, 4:2:2 and 4:4:4
/// of 8 to 16 bits, 4:1:1, and 4:4:4 with alpha. `name` is for messages. Throws Error{no_input} for anything else; the
/// message lists the supported formats.
Y4mHeader parse_y4m_header(std::string_view line, std::string_view name, std::int64_t max_pixels);

/// Opens y4m from a path, or from standard input for "-". Mono gives 1 channel. Throws as open_source() does.
std::unique_ptr<Source> open_y4m_source(const std::string& path, const SourceOptions& options);

/// Opens a sink for y4m at a path, or at standard output for "-". Colour has the subsampling, chroma position and range
/// of the medium that the frames come from (options.facts), or 4:4:4 full range without one. Gray frames are written as
/// mono. Frames that no filter changed are written without conversion.
std::unique_ptr<Sink> open_y4m_sink(const SinkCall& call, const Shape& frame, Rational rate,
                                    const SinkOptions& options);

/// Returns the parameters `pixels` and `range`, which override the format of the medium.
std::vector<ParameterInfo> y4m_sink_parameters();

/// Opens a sink for raw bytes at `path` (- for standard output): BGR if `channels` is 3 (gray values are written three
/// times), gray if it is 1. Rows and frames follow each other without padding. Throws Error{usage} for BGR frames with
/// 1 channel, otherwise as open_sink() does.
std::unique_ptr<Sink> open_raw_sink(const std::string& path, int channels, const Shape& frame,
                                    const SinkOptions& options);

}  // namespace framewire
