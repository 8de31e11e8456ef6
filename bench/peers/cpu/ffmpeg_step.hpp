#pragma once

#include "peers/contest.hpp"

#include <optional>
#include <string>

namespace framewire::bench {

/// An FFmpeg filter, with the formats of its input and output.
struct FfmpegFilter {
    std::string text;  ///< argument of -vf; {w} and {h} are the size of the result; empty if there is no such filter
    const char* in = "gbrp";   ///< planes of G, B and R, which most filters use for BGR frames
    const char* out = "gbrp";  ///< "gbrp", "bgr24", "gray", or "yuv420p": planes of Y, U and V one below the other
};

/// Returns a contestant that runs only the filter, on frames in memory in its input format. Its last output is
/// compared with want() within `tolerance`; no other output is converted. Returns nothing if this build, or this
/// FFmpeg, does not have the filter. frames(at) returns frame `at` in the format `in`: BGR frames for "gbrp" and
/// "bgr24".
std::optional<Contestant> ffmpeg_contestant(const Session& session, const FfmpegFilter& filter, const Setting& setting,
                                            const std::function<HostView<std::uint8_t>(int at)>& frames,
                                            const std::function<HostView<const std::uint8_t>()>& want,
                                            const Tolerance& tolerance);

}  // namespace framewire::bench
