#include "jobs/rig/videos.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

namespace framewire::bench {
namespace videos {

// Returns the value per frame that the given share of the runs does not exceed.
double per_frame_us(const std::vector<ProgramUse>& uses, double ProgramUse::*what, std::int64_t frames, double share) {
    std::vector<double> us;
    for (const auto& use : uses) us.push_back(1e6 * (use.*what) / static_cast<double>(frames));
    std::ranges::sort(us);
    return us[static_cast<std::size_t>(share * static_cast<double>(us.size() - 1) + 0.5)];
}

}  // namespace videos

bool has_video(const std::string& suite) {
    const char* missing = !FRAMEWIRE_FFMPEG             ? "this build cannot read compressed video"
                          : !there_is_program("ffmpeg") ? "the program 'ffmpeg' is not installed"
                                                        : nullptr;
    if (missing) fmt::print("{}: skipped: {}\n", suite, missing);
    return !missing;
}

// Makes pale colours, because y4m stores no matrix, so framewire converts small outputs to the matrix assumed for
// their size, which FFmpeg does not, and luma would differ.
std::string input_video(const Session& session, const MemoryFolder& folder, int made_frames, double rate_factor) {
    if (!session.video().empty()) return session.video();
    const auto path = folder / fmt::format("in{}.mp4", rate_factor);
    run_program({"ffmpeg", "-nostdin", "-loglevel", "error", "-f", "lavfi", "-i",
                 "testsrc2=size=1920x1080:rate=30,hue=s=0.2,noise=alls=4:allf=t", "-frames:v",
                 std::to_string(made_frames), "-c:v", "libx264", "-preset", "medium", "-crf",
                 fmt::format("{}", rate_factor), "-pix_fmt", "yuv420p", path});
    return path;
}

std::vector<std::string> joined(std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

std::vector<std::string> ffmpeg_on(const std::string& input) {
    return {"ffmpeg", "-nostdin", "-loglevel", "error", "-y", "-i", input};
}

std::int64_t ffmpeg_frames(const std::string& progress) {
    std::int64_t frames = -1;
    std::ifstream file(progress);
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("frame=")) frames = std::stoll(line.substr(6));
    std::filesystem::remove(progress);
    return frames;
}

Timing time_of(const std::vector<ProgramUse>& uses, std::int64_t frames) {
    const auto at = [&](double share) { return videos::per_frame_us(uses, &ProgramUse::seconds, frames, share); };
    return {at(0.5), at(0), at(1)};
}

double processor_us(const std::vector<ProgramUse>& uses, std::int64_t frames) {
    return videos::per_frame_us(uses, &ProgramUse::cpu_seconds, frames, 0.5);
}

}  // namespace framewire::bench
