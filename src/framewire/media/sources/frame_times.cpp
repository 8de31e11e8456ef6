// Frame times by the cheapest method that is exact: the index of a `.fwd` file, the packets of a video, or the
// constant rate of everything else.

#include "framewire/media/sources/frame_times.hpp"

#include "framewire/media/fwd/fwd.hpp"
#include "framewire/media/sources/even_frames.hpp"
#include "framewire/media/sources/source_registry.hpp"

#ifdef FRAMEWIRE_FFMPEG
#include "framewire/media/ffmpeg/cutting/packet_times.hpp"
#endif

#include <cstdint>

namespace framewire {
namespace {

FrameTimes unknown_times(std::string why) { return {.unknown = std::move(why)}; }

// Times for a constant frame rate; every frame is an entry point.
FrameTimes even_times(std::int64_t frames, Rational rate) {
    FrameTimes times;
    for (std::int64_t number = 0; number < frames; ++number) {
        times.seconds.push_back(even_time(number, rate));
        times.entries.push_back(static_cast<std::size_t>(number));
    }
    return times;
}

}  // namespace

FrameTimes frame_times_of(const std::string& text, const SourceOptions& options) {
    const auto info = open_source(text, options)->info();
    if (info.live) return unknown_times("it is live");
    const auto call = parse_source(text);
    if (call.kind->name == "fwd") return fwd_frame_times(call.path, options);
    if (call.kind->name == "playlist") return unknown_times("it is a playlist");
#ifdef FRAMEWIRE_FFMPEG
    if (info.medium) return packet_times(*info.medium, options);
#endif
    if (!info.frames) return unknown_times("it does not say how many frames it has");
    if (*info.frames > most_frames_of_times) return unknown_times("it has too many frames");
    return even_times(*info.frames, info.rate);
}

}  // namespace framewire
