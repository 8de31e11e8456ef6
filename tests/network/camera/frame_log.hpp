#pragma once

#include "framewire/core/time/clock.hpp"
#include "framewire/core/view.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace framewire::network {

/// What a test camera sent, for others to look at while it goes on: the times of many frames, the pixels of the last.
/// A file that processes share; the steady clock is the same in all of them. Frames count from 1. One writes, also one
/// after another; any number read.
class FrameLog {
public:
    /// Opens the log that is there, or makes one of `pixels_kept` frames. Throws std::runtime_error on one of another
    /// shape.
    FrameLog(const std::string& path, const Shape& shape, int pixels_kept);
    /// Opens one to read. Throws std::runtime_error where there is none.
    explicit FrameLog(const std::string& path);
    ~FrameLog();
    FrameLog(const FrameLog&) = delete;
    FrameLog& operator=(const FrameLog&) = delete;

    const Shape& shape() const { return shape_; }
    /// The newest frame; 0 before the first.
    std::uint32_t newest() const;

    /// Where the pixels of the frame after the newest go; add() then says that they are there, captured now.
    HostView<std::uint8_t> next_pixels();
    void add();

    /// When a frame was captured; nothing for those too old or not there yet.
    std::optional<Clock::time_point> captured(std::uint32_t frame) const;
    /// Its pixels; null for those too old or not there yet. They may change once pixels_kept newer ones were added.
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
