#pragma once

// What the tests of jobs share.

#include "framewire/media/media_testing.hpp"
#include "framewire/session/options.hpp"
#include "kit/filter_check.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace framewire::session {

using testing::Bytes;
using testing::error_of;
using testing::read_file;
using testing::read_video;
using testing::TemporaryFolder;
using testing::write_file;

/// Jobs on every backend that there is, with a folder for what they read and write.
class JobTest : public kit::BackendTest {
protected:
    static constexpr int frames = 12, width = 128, height = 96;
    static constexpr std::size_t frame_bytes = std::size_t{3} * width * height;

    JobOptions job() const {
        return {.backend = GetParam() == Backend::cuda ? BackendChoice::cuda : BackendChoice::cpu};
    }

    /// The synthetic camera, which ends after `frames`, or goes on for as long as it is asked.
    static std::string camera() { return endless_camera() + fmt::format(":frames={}", frames); }
    static std::string endless_camera() {
        return fmt::format("synth:size={}x{}:fps=3:noise=2:objects=5", width, height);
    }
    static std::vector<Bytes> camera_frames() { return read_video(camera()).frames; }

    /// A source of raw frames of the camera that breaks in the middle of the frame after `whole` of them.
    std::string broken_source(std::size_t whole) const {
        const auto path = folder_ / "broken.bgr";
        const auto all = camera_frames();
        Bytes bytes;
        for (std::size_t frame = 0; frame <= whole; ++frame)
            bytes.insert(bytes.end(), all[frame].begin(), all[frame].end());
        write_file(path, bytes.data(), bytes.size() - frame_bytes / 2);
        return fmt::format("raw:{}:size={}x{}", path, width, height);
    }

    /// Frames of a file of raw ones.
    static std::vector<Bytes> raw_frames(const std::string& path) {
        const auto bytes = read_file(path);
        std::vector<Bytes> result;
        for (std::size_t at = 0; at + frame_bytes <= bytes.size(); at += frame_bytes)
            result.emplace_back(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                                bytes.begin() + static_cast<std::ptrdiff_t>(at + frame_bytes));
        return result;
    }

    TemporaryFolder folder_;
};

inline int lines_in(const std::string& path) {
    const auto bytes = read_file(path);
    return static_cast<int>(std::count(bytes.begin(), bytes.end(), '\n'));
}

}  // namespace framewire::session
