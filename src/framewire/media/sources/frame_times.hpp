#pragma once

#include "framewire/media/media.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace framewire {

/// Times of all frames of a source, found without decoding them.
struct FrameTimes {
    std::vector<double> seconds{};       ///< of all frames, in order, as FrameTime::seconds has them
    std::vector<std::size_t> entries{};  ///< indices of key frames, at which reading can start; ascending
    std::optional<MediumFile> medium{};  ///< as in SourceInfo
    std::string unknown{};               ///< reason why the times are not available; empty if they are
};

/// Limit on the stored times: more than ten days at 30 frames per second.
inline constexpr std::int64_t most_frames_of_times = std::int64_t{1} << 25;

/// Reads a video file once but decodes only its first frame. Throws as open_source() does.
FrameTimes frame_times_of(const std::string& text, const SourceOptions& options);

}  // namespace framewire
