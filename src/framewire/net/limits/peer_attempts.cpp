#include "framewire/net/limits/peer_attempts.hpp"

#include <iterator>

namespace framewire::net {

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

}  // namespace framewire::net
