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

/// A recording that is started and ended while a stream is sent. One thread adds frames, another may end it.
class LiveRecording {
public:
    /// Opens the file. Throws Error{io}. `pool` must outlive the recording.
    LiveRecording(const std::string& path, const fwd::Recording& recording, const OutputFileOptions& options,
                  const ThreadPool& pool);

    /// Returns true until the recording was ended or writing failed, which is logged. From any thread.
    bool goes_on() const;
    /// Returns true if this frame should be stored as a keyframe.
    bool wants_picture(const FrameTime& time) const { return recorder_.wants_picture(time); }

    /// Adds a frame: `packed`, or if a keyframe is due, the picture that `draw` copies, which is within `threshold` of
    /// the camera's. Ignored after the end.
    void add(std::span<const std::uint8_t> packed, const FrameTime& time, int threshold,
             const std::function<void(HostView<std::uint8_t> picture)>& draw);

    /// File, duration and size so far; from any thread.
    LiveRecordingState state() const;

    /// Waits until everything is written and makes the file appear under its name; only the first call has an effect.
    /// Throws the error if writing failed, and Error{config} if no frame was added; then there is no file.
    void finish(Ending ending);

private:
    // path of the completed file
    std::string path_;
    mutable std::mutex mutex_;
    std::optional<double> first_seconds_;
    double last_seconds_ = 0;
    bool ended_ = false;
    fwd::Recorder recorder_;
};

}  // namespace framewire::session
