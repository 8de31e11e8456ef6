#pragma once

#include "kit/programs.hpp"
#include "kit/session.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace framewire::bench {

/// Whether jobs on compressed video can run: this build reads it, and the program ffmpeg is there. Says so otherwise,
/// under the suite's name.
bool has_video(const std::string& suite);

/// x264's constant rate factor: the lower, the more of a video's noise is coded, and decoding takes longer.
inline constexpr double usual_rate_factor = 26;

/// The video that whole jobs read: what the session was given, or 1080p H.264 of so many frames with moving figures and
/// some noise, made in the folder by ffmpeg.
std::string input_video(const Session& session, const MemoryFolder& folder, int made_frames,
                        double rate_factor = usual_rate_factor);

std::vector<std::string> joined(std::vector<std::string> words, const std::vector<std::string>& more);

/// ffmpeg reading a file, and silent unless it fails.
std::vector<std::string> ffmpeg_on(const std::string& input);

/// How many frames ffmpeg said to have written, in the file that -progress named, which goes; -1 where it said
/// nothing.
std::int64_t ffmpeg_frames(const std::string& progress);

/// How long several runs of one job took, per frame: the median, and the least and most for low and high.
Timing time_of(const std::vector<ProgramUse>& uses, std::int64_t frames);
/// The median of their processor time per frame, in microseconds.
double processor_us(const std::vector<ProgramUse>& uses, std::int64_t frames);

}  // namespace framewire::bench
