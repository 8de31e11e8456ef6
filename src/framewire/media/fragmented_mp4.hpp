#pragma once

#include "framewire/media/live_video.hpp"
#include "framewire/media/sound.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace framewire {

/// Fragment of an MP4 stream: one picture, with the sound until then, that players can append to what they have.
struct Mp4Fragment {
    /// The boxes moof and mdat.
    std::string bytes{};
    /// Start and duration in ticks of video_clock_hz. The first fragment starts at 0, and each one where the previous
    /// one ends.
    std::int64_t start = 0, duration = 0;
};

/// Returns true if MP4 holds sound of this codec in a form that players know: AAC and Opus.
bool is_mp4_sound(SoundCodec codec);

/// Packs H.264, and sound if there is any, as fragmented MP4 (ISO/IEC 14496-12, 8.8) with one fragment per picture, so
/// that a picture is delivered without waiting for the next one. Use an object from one thread.
class Mp4Fragments {
public:
    /// `sound` is the format of the second track; null: there is none. Throws Error{config} in a build without FFmpeg,
    /// or if this FFmpeg cannot write MP4 with these formats.
    explicit Mp4Fragments(const VideoFormat& format, const std::shared_ptr<const SoundFormat>& sound = nullptr);
    ~Mp4Fragments();
    Mp4Fragments(const Mp4Fragments&) = delete;
    Mp4Fragments& operator=(const Mp4Fragments&) = delete;

    /// Returns the boxes ftyp and moov, with which a stream starts.
    const std::string& header() const;
    /// Packs the next picture. Its end is its time plus its nominal duration, so a late picture is shown longer and
    /// players see no gaps. With sound, it is shown exactly at its time. Throws Error{io}.
    Mp4Fragment pack(const AccessUnit& unit);
    /// Adds sound to the next fragment. Sound from before the first picture, of another format, or that overlaps the
    /// previous unit is dropped. Throws Error{io}.
    void add(const SoundUnit& unit);

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Renumbers fragments for a client that joins a running stream: its first fragment starts at 0 and has the sequence
/// number 1, as some players require. Sound that starts before the first picture is left out, in later fragments too.
class Mp4Renumbering {
public:
    /// Returns the part of a stream with its own numbers. Parts other than fragments are returned unchanged; the header
    /// must come first.
    std::shared_ptr<const std::string> apply(std::shared_ptr<const std::string> part);

private:
    std::vector<std::uint32_t> timescales_{};  // of the tracks
    std::uint32_t sequence_ = 0;
    std::optional<std::uint64_t> start_{};  // in ticks of video_clock_hz
};

}  // namespace framewire
