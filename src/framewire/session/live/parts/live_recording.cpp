#include "framewire/session/live/parts/live_recording.hpp"

#include "framewire/core/error.hpp"
#include "framewire/media/fwd/settings.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

namespace framewire::session {

LiveRecording::LiveRecording(const std::string& path, const fwd::Recording& recording, const OutputFileOptions& options,
                             const ThreadPool& pool)
    : path_(path), recorder_(path, recording, fwd::usual_key_seconds, options, pool) {}

bool LiveRecording::goes_on() const {
    const std::lock_guard lock(mutex_);
    return !ended_ && recorder_.goes_on();
}

void LiveRecording::add(std::span<const std::uint8_t> packed, const FrameTime& time, int threshold,
                        const std::function<void(HostView<std::uint8_t> picture)>& draw) {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    if (!first_seconds_) first_seconds_ = time.seconds;
    last_seconds_ = time.seconds;
    if (!packed.empty() && (fwd::is_picture(packed) || !recorder_.wants_picture(time)))
        recorder_.add(packed, time);
    else
        recorder_.add_picture(time, threshold, draw);
}

LiveRecordingState LiveRecording::state() const {
    std::error_code unknown;
    const auto bytes = std::filesystem::file_size(path_ + ".part", unknown);
    const std::lock_guard lock(mutex_);
    return {path_, first_seconds_ ? last_seconds_ - *first_seconds_ : 0,
            unknown ? 0 : static_cast<std::int64_t>(bytes)};
}

void LiveRecording::finish(Ending ending) {
    {
        const std::lock_guard lock(mutex_);
        if (std::exchange(ended_, true)) return;
        if (!first_seconds_) fail(ErrorCode::config, "no frame came while it was recorded; there is no {}", path_);
    }
    recorder_.finish(ending);
}

}  // namespace framewire::session
