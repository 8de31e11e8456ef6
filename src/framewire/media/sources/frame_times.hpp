#pragma once

#include "framewire/media/media.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace framewire {

/// When the frames of a source are, without decoding them.
struct FrameTimes {
    std::vector<double> seconds{};       ///< of all frames, in order, as FrameTime::seconds has them
    std::vector<std::size_t> entries{};  ///< numbers of those that reading may begin at: key frames; in order
    std::optional<MediumFile> medium{};  ///< as SourceInfo's
    std::string unknown{};               ///< why nobody can tell, and there are none; empty: they are known
};

/// More than ten days of 30 a second: times of more are not kept.
inline constexpr std::int64_t most_frames_of_times = std::int64_t{1} << 25;

/// Reads a file of video once, but decodes its first frame only. Throws as open_source() does.
FrameTimes frame_times_of(const std::string& text, const SourceOptions& options);

}  // namespace framewire
