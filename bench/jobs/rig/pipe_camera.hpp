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

/// A camera with an exact rate that writes to a pipe on its own thread, and logs the time of each frame and the
/// pixels of the latest ones: a scene with sensor noise in which 2 % of the bytes change by far more than the
/// threshold with each frame. Like a real camera, it does not wait for its reader: frames that would be late are
/// dropped.
class PipeCamera {
public:
    /// Creates the pipe in the folder and waits for a reader of raw BGR frames. Throws Error{io} if it cannot create
    /// the pipe.
    PipeCamera(const MemoryFolder& folder, const Shape& shape, int fps);
    ~PipeCamera();
    PipeCamera(const PipeCamera&) = delete;
    PipeCamera& operator=(const PipeCamera&) = delete;

    /// Returns the address under which a server reads the camera.
    const std::string& source() const { return source_; }
    /// Returns the log of the frames, which are numbered from 1.
    const network::FrameLog& log() const { return log_; }
    /// Starts to send frames for this many seconds, then ends the stream.
    void start(double seconds);
    /// Returns the number of frames dropped so far because they were late.
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
