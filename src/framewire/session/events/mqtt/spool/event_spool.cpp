#include "framewire/session/events/mqtt/spool/event_spool.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"

#include <algorithm>

namespace framewire::session {
namespace {

// The file is rewritten when it is larger than this plus twice the waiting events.
constexpr std::size_t allowed_rest_bytes = 4 << 20;
constexpr std::chrono::seconds pause_after_failure{10};

}  // namespace

// Rewrites the file at the start, which removes forgotten events and damaged lines.
EventSpool::EventSpool(std::size_t limit, const std::string& path) : limit_(limit) {
    if (path.empty()) return;
    file_.emplace(path);
    auto read = file_->read(limit);
    events_ = std::move(read.waiting);
    dropped_ = static_cast<std::int64_t>(read.dropped);
    if (read.damaged > 0) log_warning("{}: {} lines are no events, and left out", path, read.damaged);
    if (!events_.empty()) log_info("{} events wait in {}", events_.size(), path);
    for (const auto& [number, event] : events_) live_bytes_ += event->json.size();
    if (!events_.empty()) newest_ = events_.rbegin()->first;
    file_->write_anew(events_);
}

void EventSpool::add(const SharedEvent& event) {
    if (events_.size() >= limit_) drop_oldest();
    events_.emplace(++newest_, event);
    live_bytes_ += event->json.size();
    if (file_) keep(!failed_ && file_->add(newest_, event->json));
}

// Never drops an event that was handed out, because it may have been delivered.
void EventSpool::drop_oldest() {
    const auto oldest = events_.upper_bound(handed_);
    if (oldest == events_.end()) return;
    const auto number = oldest->first;
    live_bytes_ -= oldest->second->json.size();
    events_.erase(oldest);
    ++dropped_;
    if (file_ && !failed_) keep(file_->forget(number));
}

std::optional<EventSpool::Handed> EventSpool::hand_out() {
    const auto next = events_.upper_bound(handed_);
    if (next == events_.end()) return std::nullopt;
    handed_ = next->first;
    return Handed{next->first, next->second};
}

void EventSpool::forget(std::uint64_t number) {
    const auto found = events_.find(number);
    if (found == events_.end()) return;
    live_bytes_ -= found->second->json.size();
    events_.erase(found);
    if (file_ && !failed_) keep(file_->forget(number));
}

bool EventSpool::has_motion_of(const std::string& camera) const {
    return std::ranges::any_of(events_, [&camera](const auto& entry) {
        return entry.second->type == Event::Type::motion && entry.second->camera == camera;
    });
}

// Rewrites the file if it contains too many forgotten events, or if writing failed now or before.
void EventSpool::keep(bool written) {
    if (written && file_->bytes() <= allowed_rest_bytes + 2 * live_bytes_) return;
    const auto now = Clock::now();
    if (failed_ && now < next_attempt_) return;
    try {
        file_->write_anew(events_);
        if (failed_) log_info("events are kept in {} again", file_->path());
        failed_ = false;
    } catch (const Error& error) {
        if (!failed_) log_warning("{}; events are kept in memory alone meanwhile", error.what());
        failed_ = true;
        next_attempt_ = now + pause_after_failure;
    }
}

}  // namespace framewire::session
