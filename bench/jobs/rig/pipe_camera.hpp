#pragma once

#include "framewire/core/buffer.hpp"
#include "kit/programs.hpp"
#include "network/camera/frame_log.hpp"

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace framewire::bench {

/// A camera of an exact rate behind a pipe, which remembers when it had each frame, and the pixels of the last ones: a
/// scene with sensor noise, 2 % of whose bytes change by far more than the threshold with each frame. It waits for
/// nobody: frames that it is late for are left out, as cameras do. A thread of its own.
class PipeCamera {
public:
    /// Makes the pipe in the folder, and waits there for a reader, who takes raw BGR frames. Throws Error{io} without a
    /// pipe.
    PipeCamera(const MemoryFolder& folder, const Shape& shape, int fps);
    ~PipeCamera();
    PipeCamera(const PipeCamera&) = delete;
    PipeCamera& operator=(const PipeCamera&) = delete;

    /// What a server reads it as.
    const std::string& source() const { return source_; }
    /// Its frames count from 1.
    const network::FrameLog& log() const { return log_; }
    /// Begins to send frames for so long, then ends the stream.
    void start(double seconds);
    /// Frames that it could not send in time so far.
    std::int64_t left_out() const { return left_out_; }

private:
    void run(const std::stop_token& stop);
    bool write_frame(int pipe, const std::uint8_t* pixels, const std::stop_token& stop) const;

    std::string path_, source_;
    int fps_;
    network::FrameLog log_;
    std::vector<HostImage> scenes_;
    std::atomic<double> seconds_{0};
    std::atomic<std::int64_t> left_out_{0};
    std::jthread thread_;
};

}  // namespace framewire::bench
