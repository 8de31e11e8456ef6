#include "framewire/net/limits.hpp"

#include <algorithm>
#include <iterator>

namespace framewire::net {

HandshakeLimiter::HandshakeLimiter(int limit, int limit_per_peer) : limit_(limit), limit_per_peer_(limit_per_peer) {
    // enter() never holds more than `limit` places, because it frees one before it adds one.
    places_.reserve(static_cast<std::size_t>(limit) + 1);
}

std::optional<HandshakeLimiter::Eviction> HandshakeLimiter::enter(Number connection, const std::string& peer) {
    auto loser = places_.cend();
    const bool of_same_peer = taken_[peer] >= limit_per_peer_;
    if (of_same_peer)
        loser = std::find_if(places_.cbegin(), places_.cend(), [&](const Place& place) { return place.peer == peer; });
    else if (places_.size() >= static_cast<std::size_t>(limit_))
        // max_element returns the first maximum, which is the oldest connection of that peer.
        loser = std::max_element(places_.cbegin(), places_.cend(), [this](const Place& a, const Place& b) {
            return taken_.at(a.peer) < taken_.at(b.peer);
        });
    ++taken_[peer];
    std::optional<Eviction> eviction;
    if (loser != places_.cend()) {
        eviction = {loser->connection, of_same_peer};
        free(loser);
    }
    places_.push_back({connection, peer});
    return eviction;
}

std::string pending_name(HandshakeLimiter::Number connection, const std::string& peer, bool is_proxy) {
    return is_proxy ? peer + ' ' + std::to_string(connection) : peer;
}

void HandshakeLimiter::leave(Number connection) {
    const auto found = std::find_if(places_.cbegin(), places_.cend(),
                                    [&](const Place& place) { return place.connection == connection; });
    if (found != places_.cend()) free(found);
}

void HandshakeLimiter::free(Places::const_iterator place) {
    const auto taken = taken_.find(place->peer);
    if (--taken->second == 0) taken_.erase(taken);
    places_.erase(place);
}

void LimitedLog::tell_left_out(Clock::time_point now) { tell(take_left_out(now)); }

// Returns true if the line is within the limits of the period and of its peer.
bool LimitedLog::takes(Clock::time_point now, const std::string& peer) {
    // A period starts with the first line after the previous one has ended.
    if (now >= period_end_) {
        period_end_ = now + period;
        lines_ = 0;
        lines_of_.clear();
    }
    if (lines_ < lines_a_period && (peer.empty() || lines_of_[peer] < lines_of_a_peer)) {
        ++lines_;
        if (!peer.empty()) ++lines_of_[peer];
        return true;
    }
    ++left_out_;
    return false;
}

std::int64_t LimitedLog::take_left_out(Clock::time_point now) {
    return now >= period_end_ ? std::exchange(left_out_, 0) : 0;
}

void LimitedLog::tell(std::int64_t left_out) const {
    if (left_out > 0) log_at(level_, "{} more lines about {} were suppressed", left_out, about_);
}

PeerAttempts::PeerAttempts(int limit, Clock::duration window, std::size_t most_peers)
    : limit_(limit), window_(window), most_peers_(most_peers) {}

bool PeerAttempts::exhausted(const std::string& peer, Clock::time_point now) const {
    const auto found = by_peer_.find(peer);
    return found != by_peer_.end() && now < found->second->end && found->second->attempts >= limit_;
}

// Removes windows that have ended, and the oldest one if there are too many.
void PeerAttempts::add(const std::string& peer, Clock::time_point now) {
    // Windows all have the same length, so the list is sorted by their end.
    while (!windows_.empty() &&
           (now >= windows_.front().end || (windows_.size() >= most_peers_ && !by_peer_.contains(peer)))) {
        by_peer_.erase(windows_.front().peer);
        windows_.pop_front();
    }
    auto found = by_peer_.find(peer);
    if (found == by_peer_.end()) {
        windows_.push_back({peer, now + window_, 0});
        found = by_peer_.emplace(peer, std::prev(windows_.end())).first;
    }
    ++found->second->attempts;
}

void PeerAttempts::forget(const std::string& peer) {
    const auto found = by_peer_.find(peer);
    if (found == by_peer_.end()) return;
    windows_.erase(found->second);
    by_peer_.erase(found);
}

void PinnedBytes::add(const SharedMessages& messages) {
    for (const auto& message : messages)
        if (++users_[message.get()] == 1) total_ += message->size();
}

void PinnedBytes::remove(const SharedMessages& messages) {
    for (const auto& message : messages) {
        const auto found = users_.find(message.get());
        if (found == users_.end() || --found->second > 0) continue;
        total_ -= message->size();
        users_.erase(found);
    }
}

std::size_t PinnedBytes::growth(const SharedMessages& messages) const {
    std::size_t bytes = 0;
    for (const auto& message : messages)
        if (!users_.contains(message.get())) bytes += message->size();
    return bytes;
}

}  // namespace framewire::net
