#pragma once

#include "framewire/media/live_video.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace framewire {

/// Fragment of an MP4 stream: one picture that players can append to what they have.
struct Mp4Fragment {
    /// The boxes moof and mdat.
    std::string bytes{};
    /// Start and duration in ticks of video_clock_hz. The first fragment starts at 0, and each one where the previous
    /// one ends.
    std::int64_t start = 0, duration = 0;
};

/// Packs H.264 as fragmented MP4 (ISO/IEC 14496-12, 8.8) with one fragment per picture, so that a picture is delivered
/// without waiting for the next one. Use an object from one thread.
class Mp4Fragments {
public:
    /// Throws Error{config} in a build without FFmpeg, or if this FFmpeg cannot write MP4.
    explicit Mp4Fragments(const VideoFormat& format);
    ~Mp4Fragments();
    Mp4Fragments(const Mp4Fragments&) = delete;
    Mp4Fragments& operator=(const Mp4Fragments&) = delete;

    /// Returns the boxes ftyp and moov, with which a stream starts.
    const std::string& header() const;
    /// Packs the next picture. Its end is its time plus its nominal duration, so a late picture is shown longer and
    /// players see no gaps. Throws Error{io}.
    Mp4Fragment pack(const AccessUnit& unit);

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Renumbers fragments for a client that joins a running stream: its first fragment starts at 0 and has the sequence
/// number 1, as some players require.
class Mp4Renumbering {
public:
    /// Returns the part of a stream with its own numbers. Parts other than fragments are returned unchanged.
    std::shared_ptr<const std::string> apply(std::shared_ptr<const std::string> part);

private:
    std::uint32_t sequence_ = 0;
    std::optional<std::uint64_t> start_{};
};

}  // namespace framewire
