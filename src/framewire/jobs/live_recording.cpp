#include "framewire/jobs/live_recording.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/media/fwd.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

namespace framewire::jobs {

void LiveParts::take_zones(std::span<const service::LiveZone> zones) {
    std::vector<Zone> counting;
    for (const auto& zone : zones)
        if (zone.kind == service::LiveZone::Kind::detect) counting.push_back(zone.area);
    const std::lock_guard lock(mutex_);
    counting_ = std::move(counting);
}

void LiveParts::count(std::span<const Component> objects, std::vector<Component>& counted) const {
    const std::lock_guard lock(mutex_);
    service::count_in(counting_, objects, counted);
}

void LiveParts::take_event_zones(ZoneSet zones) {
    const std::lock_guard lock(mutex_);
    changed_event_zones_ = std::move(zones);
}

std::optional<ZoneSet> LiveParts::take_changed_event_zones() {
    const std::lock_guard lock(mutex_);
    return std::exchange(changed_event_zones_, std::nullopt);
}

void LiveParts::note_frame(bool signal, bool first) {
    if (up_.exchange(signal) != signal && signal && !first) ++reconnects_;
}

std::shared_ptr<LiveRecording> LiveParts::recording() const {
    const std::lock_guard lock(mutex_);
    return recording_ && recording_->goes_on() ? recording_ : nullptr;
}

void LiveParts::start_recording(const std::function<std::shared_ptr<LiveRecording>()>& make) {
    if (recording()) fail(ErrorCode::usage, "the camera is already being recorded");
    auto recording = make();
    const std::lock_guard lock(mutex_);
    recording_ = std::move(recording);
}

// The file is completed after the lock is released, because that may take a while.
void LiveParts::stop_recording() {
    std::shared_ptr<LiveRecording> ended;
    {
        const std::lock_guard lock(mutex_);
        ended = std::exchange(recording_, nullptr);
    }
    if (!ended) fail(ErrorCode::usage, "the camera is not being recorded");
    ended->finish(Ending::complete);
}

void LiveParts::finish(Ending ending) {
    const auto ended = recording();
    if (!ended) return;
    try {
        ended->finish(ending);
    } catch (const Error& error) {
        log_error("{}", error.what());
    }
}

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

service::LiveRecordingState LiveRecording::state() const {
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
        if (!first_seconds_)
            fail(ErrorCode::config, "no frame arrived during the recording; {} was not written", path_);
    }
    recorder_.finish(ending);
}

void RequestsInForce::note_sent(std::uint64_t requests) {
    {
        const std::lock_guard lock(mutex_);
        any_sent_ = true;
        sent_ = std::max(sent_, requests);
    }
    changed_.notify_all();
}

void RequestsInForce::end() {
    {
        const std::lock_guard lock(mutex_);
        ended_ = true;
    }
    changed_.notify_all();
}

// A request that came into force counts as such even if the stream ended afterwards.
RequestsInForce::Outcome RequestsInForce::wait_for(std::uint64_t requests) const {
    std::unique_lock lock(mutex_);
    const auto is_sent = [&] { return any_sent_ && sent_ >= requests; };
    changed_.wait_for(lock, patience, [&] { return ended_ || is_sent(); });
    return is_sent() ? Outcome::in_force : ended_ ? Outcome::ended : Outcome::late;
}

}  // namespace framewire::jobs
