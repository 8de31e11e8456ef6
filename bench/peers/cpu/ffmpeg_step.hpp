#pragma once

#include "peers/contest.hpp"

#include <optional>
#include <string>

namespace framewire::bench {

/// An FFmpeg filter, with the formats of its input and output.
struct FfmpegFilter {
    std::string text;  ///< as after -vf; {w} and {h} are the size of the result; empty if there is no such filter
    const char* in = "gbrp";   ///< planes of G, B and R, which most filters use for BGR frames
    const char* out = "gbrp";  ///< or "bgr24"; "gray"; "yuv420p", in this file's words Y, U and V below each other
};

/// The filter alone on frames that lie in memory in its input format; its output is compared as `result` says, and
/// converted for no other turn. Returns nothing if this build, or this FFmpeg, does not have it. `frames`: returns the
/// frame of an index in the format `in`: "gbrp" and "bgr24" for BGR frames.
std::optional<Contestant> ffmpeg_contestant(const Session& session, const FfmpegFilter& filter, const Setting& setting,
                                            const std::function<HostView<std::uint8_t>(int at)>& frames,
                                            const std::function<HostView<const std::uint8_t>()>& want,
                                            const Tolerance& tolerance);

}  // namespace framewire::bench
