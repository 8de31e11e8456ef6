#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/media/media.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Helpers for the tests of the media module.

namespace framewire::testing {

using Bytes = std::vector<std::uint8_t>;

/// Temporary folder, removed with its content when the object is destroyed.
class TemporaryFolder {
public:
    TemporaryFolder() {
        auto name = (std::filesystem::temp_directory_path() / "framewire-media-XXXXXX").string();
        if (!::mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
        path_ = name;
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    /// Returns the path of a file in the folder.
    std::string operator/(const std::string& name) const { return (path_ / name).string(); }
    /// Returns the names of the files in the folder, sorted.
    std::vector<std::string> names() const {
        std::vector<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(path_)) names.push_back(entry.path().filename());
        std::sort(names.begin(), names.end());
        return names;
    }

private:
    std::filesystem::path path_;
};

/// Returns all bytes of a file; fails the test if they cannot be read.
inline Bytes read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    EXPECT_TRUE(file) << path;
    std::error_code none;
    const auto size = std::filesystem::file_size(path, none);
    Bytes bytes(none ? 0 : size);
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    EXPECT_EQ(file.gcount(), static_cast<std::streamsize>(bytes.size())) << path;
    return bytes;
}

/// Creates or replaces a file.
inline void write_file(const std::string& path, const void* data, std::size_t bytes) {
    std::ofstream file(path, std::ios::binary);
    file.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
    ASSERT_TRUE(file.flush()) << path;
}

inline void write_file(const std::string& path, std::string_view text) { write_file(path, text.data(), text.size()); }

/// Returns a frame of smooth colours that move with `number`; lossy formats keep them well.
inline Bytes smooth_frame(const Shape& shape, int number) {
    Bytes bytes(static_cast<std::size_t>(shape.bytes()));
    std::size_t at = 0;
    for (int y = 0; y < shape.height; ++y)
        for (int x = 0; x < shape.width; ++x)
            for (int channel = 0; channel < shape.channels; ++channel)
                bytes[at++] = static_cast<std::uint8_t>(
                    128 + 90 * std::sin(0.031 * (x + 3 * number) * (channel + 1) + 0.023 * y + channel));
    return bytes;
}

/// Returns uniformly distributed bytes that depend only on `seed` (a linear congruential generator).
inline Bytes random_frame(const Shape& shape, std::uint64_t seed) {
    Bytes bytes(static_cast<std::size_t>(shape.bytes()));
    for (auto& byte : bytes) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        byte = static_cast<std::uint8_t>(seed >> 56);
    }
    return bytes;
}

inline HostView<const std::uint8_t> view_of(const Bytes& bytes, const Shape& shape) { return {bytes.data(), shape}; }

/// Writes frames at 25 per second and finishes the file; replaces an existing file.
inline void write_video(const std::string& target, const Shape& shape, const std::vector<Bytes>& frames,
                        const SinkOptions& options = {.replace = true}) {
    const auto sink = open_sink(target, shape, {25, 1}, options);
    for (std::size_t number = 0; number < frames.size(); ++number)
        sink->write(view_of(frames[number], shape),
                    {static_cast<std::int64_t>(number), static_cast<double>(number) / 25, {}});
    sink->finish();
}

/// Everything that could be read from a source, and the error that ended reading, if any.
struct Reading {
    SourceInfo info;
    std::vector<Bytes> frames;
    std::vector<FrameTime> times;
    std::optional<ErrorCode> error;
    std::string message;
};

/// Reads up to `most_frames` frames; never throws Error.
inline Reading read_video(const std::string& text, const SourceOptions& options = {},
                          std::size_t most_frames = 10'000) {
    Reading reading;
    try {
        const auto source = open_source(text, options);
        reading.info = source->info();
        HostImage image(source->info().shape);
        FrameTime time;
        while (reading.frames.size() < most_frames && source->read(image.view(), time)) {
            const auto* data = image.view().data();
            reading.frames.emplace_back(data, data + image.shape().bytes());
            reading.times.push_back(time);
        }
    } catch (const Error& error) {
        reading.error = error.code();
        reading.message = error.what();
    }
    return reading;
}

/// Returns the peak signal-to-noise ratio in dB.
inline double psnr(const Bytes& a, const Bytes& b) {
    if (a.size() != b.size() || a.empty()) return 0;
    double sum = 0;
    for (std::size_t at = 0; at < a.size(); ++at) sum += std::pow(double(a[at]) - double(b[at]), 2);
    return sum == 0 ? 200 : 10 * std::log10(255.0 * 255.0 * static_cast<double>(a.size()) / sum);
}

/// Returns the code of the Error that `body` throws; nullopt if it throws none.
inline std::optional<ErrorCode> error_of(const std::function<void()>& body, std::string* message = nullptr) {
    try {
        body();
    } catch (const Error& error) {
        if (message) *message = error.what();
        return error.code();
    }
    return std::nullopt;
}

/// Runs FFmpeg's command-line tool as an independent implementation; returns true if it succeeded.
inline bool ffmpeg(const std::string& arguments) {
    return std::system(("timeout 300 ffmpeg -nostdin -v error -y " + arguments).c_str()) == 0;
}

}  // namespace framewire::testing
