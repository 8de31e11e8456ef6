#include "framewire/session/live/parts/live_parts.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"

#include <utility>

namespace framewire::session {

void LiveParts::take_zones(std::span<const LiveZone> zones) {
    std::vector<Zone> counting;
    for (const auto& zone : zones)
        if (zone.kind == LiveZone::Kind::detect) counting.push_back(zone.area);
    const std::lock_guard lock(mutex_);
    counting_ = std::move(counting);
}

void LiveParts::count(std::span<const Component> objects, std::vector<Component>& counted) const {
    const std::lock_guard lock(mutex_);
    count_in(counting_, objects, counted);
}

void LiveParts::note_frame(bool signal, bool first) {
    if (up_.exchange(signal) != signal && signal && !first) ++reconnects_;
}

std::shared_ptr<LiveRecording> LiveParts::recording() const {
    const std::lock_guard lock(mutex_);
    return recording_ && recording_->goes_on() ? recording_ : nullptr;
}

void LiveParts::start_recording(const std::function<std::shared_ptr<LiveRecording>()>& make) {
    if (recording()) fail(ErrorCode::usage, "it is recorded already");
    auto recording = make();
    const std::lock_guard lock(mutex_);
    recording_ = std::move(recording);
}

// The file is completed without the lock, because that may take a while.
void LiveParts::stop_recording() {
    std::shared_ptr<LiveRecording> ended;
    {
        const std::lock_guard lock(mutex_);
        ended = std::exchange(recording_, nullptr);
    }
    if (!ended) fail(ErrorCode::usage, "it is not recorded");
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

}  // namespace framewire::session
