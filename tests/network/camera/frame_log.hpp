#pragma once

#include "framewire/core/time.hpp"
#include "framewire/core/view.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace framewire::network {

/// Log of the frames that a test camera sent, readable while the camera runs: the times of many frames and the pixels
/// of the last ones. Processes share it as a file and use the same steady clock. Frames count from 1. One process
/// writes at a time; any number of processes may read.
class FrameLog {
public:
    /// Opens the existing log, or creates one that stores the pixels of the last `pixels_kept` frames. Throws
    /// std::runtime_error if it has another shape.
    FrameLog(const std::string& path, const Shape& shape, int pixels_kept);
    /// Opens a log for reading. Throws std::runtime_error if it does not exist.
    explicit FrameLog(const std::string& path);
    ~FrameLog();
    FrameLog(const FrameLog&) = delete;
    FrameLog& operator=(const FrameLog&) = delete;

    const Shape& shape() const { return shape_; }
    /// Returns the number of the newest frame; 0 before the first.
    std::uint32_t newest() const;

    /// Returns the buffer for the pixels of the next frame; add() then publishes it as captured now.
    HostView<std::uint8_t> next_pixels();
    void add();

    /// Returns the capture time of a frame; nullopt if it is too old or not there yet.
    std::optional<Clock::time_point> captured(std::uint32_t frame) const;
    /// Returns the pixels of a frame; null if it is too old or not there yet. The pixels may change once pixels_kept
    /// newer frames have been added.
    const std::uint8_t* pixels(std::uint32_t frame) const;

private:
    struct Front;
    void map(int descriptor, std::size_t bytes, bool writable);
    std::uint8_t* slot(std::uint32_t frame) const;

    Shape shape_{};
    Front* front_ = nullptr;
    std::size_t mapped_bytes_ = 0;
};

}  // namespace framewire::network
