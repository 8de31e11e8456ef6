#pragma once

#include "framewire/media/fwd/recorder.hpp"
#include "framewire/session/live/parts/live_recording_state.hpp"

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>

namespace framewire::session {

/// A recording that was begun while a stream is sent, and may end while it goes on. Fed by one thread, ended by
/// another.
class LiveRecording {
public:
    /// Opens the file. Throws Error{io}. `pool` lives longer.
    LiveRecording(const std::string& path, const fwd::Recording& recording, const OutputFileOptions& options,
                  const ThreadPool& pool);

    /// False once it was ended, or writing has failed, which the log says. Any thread may ask.
    bool goes_on() const;
    bool wants_picture(const FrameTime& time) const { return recorder_.wants_picture(time); }

    /// Takes a frame: `packed`, or where a picture is wanted, the one within `threshold` that `draw` copies. Nothing
    /// once it was ended.
    void add(std::span<const std::uint8_t> packed, const FrameTime& time, int threshold,
             const std::function<void(HostView<std::uint8_t> picture)>& draw);

    /// Of the frames so far; any thread may ask.
    LiveRecordingState state() const;

    /// Waits until all is written and lets the file appear; only the first call does. Throws what writing failed with,
    /// and Error{config} where no frame came: then there is no file.
    void finish(Ending ending);

private:
    std::string path_;
    mutable std::mutex mutex_;
    std::optional<double> first_seconds_;
    double last_seconds_ = 0;
    bool ended_ = false;
    fwd::Recorder recorder_;
};

}  // namespace framewire::session
