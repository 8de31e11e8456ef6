#include "jobs/rig/pipe_camera.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/time.hpp"
#include "kit/session.hpp"
#include "network/camera/stamp.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace framewire::bench {
namespace pipe_camera {

constexpr int scenes = 8, frames_kept = 30;
constexpr double changed_share = 0.02;
constexpr int pipe_bytes = 1 << 20;  // the maximum for an unprivileged user
constexpr std::chrono::milliseconds pause{1};

}  // namespace pipe_camera

PipeCamera::PipeCamera(const MemoryFolder& folder, const Shape& shape, int fps)
    : path_(folder / "camera.bgr"),
      source_(fmt::format("raw:{}:size={}x{}:fps={}:format=bgr", path_, shape.width, shape.height, fps)),
      fps_(fps),
      log_(folder / "camera.log", shape, pipe_camera::frames_kept) {
    if (::mkfifo(path_.c_str(), 0600) != 0)
        fail(ErrorCode::io, "cannot create the pipe {}: {}", path_, std::strerror(errno));
    HostImage still(shape);
    fill_scene(still.view(), 1);
    for (std::uint32_t scene = 0; scene < pipe_camera::scenes; ++scene) {
        scenes_.emplace_back(shape);
        fill_later(std::as_const(still).view(), scenes_.back().view(), pipe_camera::changed_share, false, scene);
    }
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

PipeCamera::~PipeCamera() = default;

void PipeCamera::start(double seconds) { seconds_ = seconds; }

// Writes a frame, stopping early if requested; returns false if the pipe no longer has a reader.
bool PipeCamera::write_frame(int pipe, const std::uint8_t* pixels, const std::stop_token& stop) const {
    for (std::int64_t left = log_.shape().bytes(); left > 0;) {
        const auto put = ::write(pipe, pixels, static_cast<std::size_t>(left));
        if (put > 0) {
            pixels += put, left -= put;
            continue;
        }
        if (put < 0 && errno != EAGAIN && errno != EINTR) return false;
        if (stop.stop_requested()) return false;
        pollfd room{pipe, POLLOUT, 0};
        ::poll(&room, 1, 100);
    }
    return true;
}

void PipeCamera::run(const std::stop_token& stop) {
    sigset_t gone;  // blocks SIGPIPE: a reader that ends must not end this program
    ::sigemptyset(&gone);
    ::sigaddset(&gone, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &gone, nullptr);
    int pipe = -1;
    while (!stop.stop_requested() && (pipe = ::open(path_.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC)) < 0)
        std::this_thread::sleep_for(pipe_camera::pause);
    if (pipe < 0) return;
    ::fcntl(pipe, F_SETPIPE_SZ, pipe_camera::pipe_bytes);
    while (!stop.stop_requested() && seconds_ == 0) std::this_thread::sleep_for(pipe_camera::pause);
    const auto period = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1.0 / fps_));
    const auto begin = Clock::now();
    for (auto due = begin; !stop.stop_requested() && milliseconds(begin, due) < 1000 * seconds_;) {
        std::this_thread::sleep_until(due);
        for (due += period; due <= Clock::now(); due += period) ++left_out_;
        const auto frame = log_.newest() + 1;
        const auto pixels = log_.next_pixels();
        copy(std::as_const(scenes_[frame % scenes_.size()]).view(), pixels);
        network::draw_stamp(pixels, frame % network::stamp_numbers);
        log_.add();
        if (!write_frame(pipe, log_.pixels(frame), stop)) break;
    }
    ::close(pipe);
}

}  // namespace framewire::bench
