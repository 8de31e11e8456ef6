#pragma once

#include "framewire/media/media.hpp"
#include "kit/programs.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <latch>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace framewire::bench {

/// Returns the CPU time of this process so far, all threads, user and kernel.
double process_seconds();

/// Returns the number of frames of a video, at least 1. Reads it to its end if it does not declare the number.
std::int64_t frames_in(const std::string& path);

/// Returns a playlist in `folder` that plays a video for 100,000 frames, or the video itself if it is no MP4, MOV,
/// Matroska, WebM, AVI or MPEG-TS file, or this FFmpeg reads no playlists. A decoder goes on from one repetition to the
/// next, while a source that starts over opens a new one, which holds up all others on a GPU.
std::string repeated_video(const MemoryFolder& folder, const std::string& path);

/// Decodes more of a video on the calling thread; returns the number of new frames. Throws Error when it cannot.
using DecodeStep = std::function<std::int64_t()>;

/// Opens a video through framewire's source, which starts over at its end. `threads` are FFmpeg's; 0: its choice.
DecodeStep decode_through_source(const std::string& path, DecodeChoice choice, int threads,
                                 const std::stop_token& stop);

/// Decoders that run until this object is destroyed.
class Decoders {
public:
    /// Opens one decoder, on the thread that will use it.
    using Open = std::function<DecodeStep(const std::stop_token&)>;

    /// Returns when each of `count` decoders has delivered 20 frames, because opening one on a GPU holds the others up.
    /// Each thread drives `per_thread` decoders in turn. Throws Error{config} if a decoder fails.
    Decoders(int count, int per_thread, const Open& open);

    /// Returns the number of frames so far, of all decoders.
    std::int64_t frames() const { return frames_.load(); }
    std::size_t threads() const { return threads_.size(); }
    /// Throws Error{config} if a decoder has failed.
    void require_all() const;

private:
    void run(int count, const Open& open, const std::stop_token& stop);

    std::latch ready_;
    std::atomic<std::int64_t> frames_{0};
    mutable std::mutex mutex_;  // guards the next two
    int failed_ = 0;
    std::string reason_;                 // of the first thread that failed
    std::vector<std::jthread> threads_;  // last member: joined first
};

}  // namespace framewire::bench
