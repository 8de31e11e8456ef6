#pragma once

#include "framewire/cuda/device.hpp"
#include "framewire/jobs/gpu_fleet.hpp"
#include "framewire/jobs/options.hpp"
#include "framewire/media/media_testing.hpp"
#include "kit/filter_check.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// Fixtures shared by the tests of jobs.

namespace framewire::jobs {

using testing::Bytes;
using testing::error_of;
using testing::read_file;
using testing::read_video;
using testing::TemporaryFolder;
using testing::write_file;

/// Base class for tests of jobs on each available backend, with a temporary folder for their files.
class JobTest : public kit::BackendTest {
protected:
    static constexpr int frames = 12, width = 128, height = 96;
    static constexpr std::size_t frame_bytes = std::size_t{3} * width * height;

    JobOptions job() const {
        return {.backend = GetParam() == Backend::cuda ? BackendChoice::cuda : BackendChoice::cpu};
    }

    /// Returns the text of a synthetic camera that ends after `frames` frames; an endless_camera() continues until it
    /// is stopped.
    static std::string camera() { return endless_camera() + fmt::format(":frames={}", frames); }
    static std::string endless_camera() {
        return fmt::format("synth:size={}x{}:fps=3:noise=2:objects=5", width, height);
    }
    static std::vector<Bytes> camera_frames() { return read_video(camera()).frames; }

    /// Writes a raw video that ends in the middle of the frame after `whole` complete ones, and returns its source
    /// text.
    std::string broken_source(std::size_t whole) const {
        const auto path = folder_ / "broken.bgr";
        const auto all = camera_frames();
        Bytes bytes;
        for (std::size_t frame = 0; frame <= whole; ++frame)
            bytes.insert(bytes.end(), all[frame].begin(), all[frame].end());
        write_file(path, bytes.data(), bytes.size() - frame_bytes / 2);
        return fmt::format("raw:{}:size={}x{}", path, width, height);
    }

    /// Returns the frames of a raw video file.
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

/// Returns two processors for a backend: two GPUs if there are two, otherwise the same one twice.
inline std::vector<Processor> two_processors(Backend backend) {
    if (backend == Backend::cpu) return {{BackendChoice::cpu}, {BackendChoice::cpu}};
    return {{BackendChoice::cuda, 0}, {BackendChoice::cuda, cuda::devices().size() > 1 ? 1 : 0}};
}

inline int lines_in(const std::string& path) {
    const auto bytes = read_file(path);
    return static_cast<int>(std::count(bytes.begin(), bytes.end(), '\n'));
}

}  // namespace framewire::jobs
