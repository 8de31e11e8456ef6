#pragma once

#include "e2e/shell.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

namespace framewire::e2e {

/// Writes a file of `seconds` in which each second begins with a flash and a beep of 0.1 s. `options` choose the coding
/// of the sound.
inline std::string make_flashes(const std::string& path, const std::string& options, int seconds = 4) {
    EXPECT_TRUE(
        ffmpeg(fmt::format("-f lavfi -i \"color=black:size=320x180:rate=30,drawbox=c=white:t=fill:"
                           "enable='lt(mod(t,1),0.1)'\" -f lavfi -i "
                           "\"aevalsrc='if(lt(mod(t,1),0.1),0.5*sin(2*PI*1000*t),0)':s=48000\" -t {} -pix_fmt yuv420p "
                           "-c:v libx264 -preset ultrafast -g 30 {} {}",
                           seconds, options, path)));
    return path;
}

/// Returns what ffprobe prints for each packet of a file's sound or pictures ("a", "v"), one line per packet.
inline std::vector<std::string> packets_of(const std::string& path, const std::string& streams,
                                           const std::string& entry) {
    std::istringstream lines(
        probed(path, "packet=" + entry, fmt::format("-select_streams {}:0 -show_data_hash md5", streams)));
    std::vector<std::string> all;
    for (std::string line; std::getline(lines, line);) all.push_back(line);
    return all;
}

/// Returns the times of the packets of a file's sound or pictures.
inline std::vector<double> packet_times(const std::string& path, const std::string& streams) {
    std::vector<double> times;
    for (const auto& line : packets_of(path, streams, "pts_time")) times.push_back(std::strtod(line.c_str(), nullptr));
    return times;
}

/// Returns the longest time from a packet to the next one.
inline double longest_gap(const std::vector<double>& times) {
    double longest = 0;
    for (std::size_t i = 1; i < times.size(); ++i) longest = std::max(longest, times[i] - times[i - 1]);
    return longest;
}

/// Returns all times that FFmpeg's detectors print after `name`.
inline std::vector<double> detected(const std::string& text, const std::string& name) {
    std::vector<double> times;
    for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + 1))
        times.push_back(std::strtod(text.c_str() + at + name.size(), nullptr));
    return times;
}

/// Expects that each beep of a recording has its flash within 50 ms, as FFmpeg decodes them, and that there are at
/// least `least` of them.
inline void expect_together(const std::string& path, std::size_t least) {
    const auto words =
        printed_by(fmt::format("ffmpeg -nostdin -hide_banner -nostats -copyts -i {} -vf "
                               "blackdetect=d=0.3:pix_th=0.3 -af silencedetect=n=-30dB:d=0.3 -f null -",
                               path));
    const auto flashes = detected(words, "black_end:"), beeps = detected(words, "silence_end: ");
    ASSERT_FALSE(beeps.empty()) << words;
    // The recording may begin or end between a flash and its beep.
    constexpr double apart_s = 0.05, edge_s = 0.4;
    const auto sound = packet_times(path, "a"), pictures = packet_times(path, "v");
    ASSERT_FALSE(sound.empty() || pictures.empty()) << path;
    const auto begin = std::max(sound.front(), pictures.front()) + edge_s,
               end = std::min(sound.back(), pictures.back()) - edge_s;
    std::size_t found = 0;
    for (const auto beep : beeps) {
        if (beep < begin || beep > end) continue;
        double nearest = 1;
        for (const auto flash : flashes)
            if (std::abs(beep - flash) < std::abs(nearest)) nearest = beep - flash;
        EXPECT_NEAR(nearest, 0, apart_s) << path << ": beep at " << beep << " s";
        ++found;
    }
    EXPECT_GE(found, least) << words;
}

}  // namespace framewire::e2e
