#pragma once

#include "peers/contest.hpp"

#include <optional>
#include <string>

namespace framewire::bench {

/// A filter of FFmpeg's and the pictures that it takes and gives.
struct FfmpegFilter {
    std::string text;          ///< as after -vf; {w} and {h} are the sides of the result; empty without such a filter
    const char* in = "gbrp";   ///< planes of G, B and R: what most filters work on, for BGR frames
    const char* out = "gbrp";  ///< or "bgr24"; "gray"; "yuv420p", in this file's words Y, U and V below each other
};

/// The filter alone on frames that lie in memory as it takes them; what it gives is compared as `result` has it, and
/// made for no other turn. Nothing where this build, or this FFmpeg, is without it. `frames`: gives the frame of a
/// number, as `in` says: "gbrp" and "bgr24" of BGR frames.
std::optional<Contestant> ffmpeg_contestant(const Session& session, const FfmpegFilter& filter, const Setting& setting,
                                            const std::function<HostView<std::uint8_t>(int at)>& frames,
                                            const std::function<HostView<const std::uint8_t>()>& want,
                                            const Tolerance& tolerance);

}  // namespace framewire::bench
