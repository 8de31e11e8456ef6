#pragma once

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace framewire::e2e {

/// Returns what a shell command prints to standard output and standard error; for tools such as ffprobe.
inline std::string printed_by(const std::string& command) {
    std::string text;
    auto* pipe = ::popen(("timeout 120 " + command + " 2>&1").c_str(), "r");
    if (!pipe) return text;
    std::array<char, 4096> some{};
    while (const auto got = std::fread(some.data(), 1, some.size(), pipe)) text.append(some.data(), got);
    ::pclose(pipe);
    return text;
}

/// Runs FFmpeg's own program; returns true if it succeeds.
inline bool ffmpeg(const std::string& arguments) {
    return printed_by("ffmpeg -nostdin -v error -y " + arguments + " || echo failed").empty();
}

/// Returns what ffprobe prints for a file, one line per entry: `entries` is the argument of -show_entries, `more` holds
/// further options.
inline std::string probed(const std::string& path, const std::string& entries, const std::string& more = "") {
    return printed_by("ffprobe -v error " + more + " -show_entries " + entries + " -of csv=p=0 '" + path + "'");
}

/// Returns the summary of FFmpeg's psnr filter for two videos, compared frame by frame.
inline std::string psnr_words(const std::string& path, const std::string& other) {
    const auto said =
        printed_by("ffmpeg -nostdin -hide_banner -nostats -i '" + path + "' -i '" + other +
                   "' -lavfi '[0:v]settb=1/1000,setpts=N*40[a];[1:v]settb=1/1000,setpts=N*40[b];[a][b]psnr' -f null -");
    const auto line = said.rfind("PSNR ");
    return line == said.npos ? "" : said.substr(line);
}

/// Returns the dB value of "y", "u", "v" or "average" in psnr_words(); -1 if missing.
inline double decibels(const std::string& words, const std::string& plane) {
    const auto at = words.find(plane + ":");
    return at == words.npos ? -1 : std::strtod(words.c_str() + at + plane.size() + 1, nullptr);
}

inline double psnr(const std::string& path, const std::string& other, const std::string& plane) {
    return decibels(psnr_words(path, other), plane);
}

}  // namespace framewire::e2e
