#pragma once

#include "kit/programs.hpp"
#include "kit/session.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace framewire::bench {

/// Returns true if jobs on compressed video can run: this build reads it, and the program ffmpeg is installed.
/// Otherwise prints the reason under the suite's name.
bool has_video(const std::string& suite);

/// x264's constant rate factor: a lower one codes more of a video's noise, which takes longer to decode.
inline constexpr double usual_rate_factor = 26;

/// Returns the video that whole jobs read: the session's, or 1080p H.264 with this many frames, moving figures and some
/// noise, which ffmpeg makes in the folder.
std::string input_video(const Session& session, const MemoryFolder& folder, int made_frames,
                        double rate_factor = usual_rate_factor);

std::vector<std::string> joined(std::vector<std::string> words, const std::vector<std::string>& more);

/// Returns an ffmpeg command line that reads a file and prints nothing unless it fails.
std::vector<std::string> ffmpeg_on(const std::string& input);

/// Returns the number of frames that ffmpeg reports in its -progress file, which is removed; -1 if there is none.
std::int64_t ffmpeg_frames(const std::string& progress);

/// Returns the time per frame of several runs of one job: the median, and the minimum and maximum as low and high.
Timing time_of(const std::vector<ProgramUse>& uses, std::int64_t frames);
/// Returns the median CPU time per frame of the runs, in microseconds.
double processor_us(const std::vector<ProgramUse>& uses, std::int64_t frames);

}  // namespace framewire::bench
