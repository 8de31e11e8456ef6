#include "framewire/net/stream/wishes.hpp"

#include <utility>

namespace framewire::net {

std::string Wishes::state() const {
    const std::lock_guard lock(mutex_);
    return state_;
}

std::string Wishes::refusal() const {
    const std::lock_guard lock(mutex_);
    return refusal_;
}

void Wishes::order(const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() == most_waiting) waiting_.pop_front();
    waiting_.push_back(text);
}

std::optional<std::string> Wishes::next() {
    const std::lock_guard lock(mutex_);
    if (under_way_ || waiting_.empty()) return std::nullopt;
    under_way_ = true;
    auto wish = std::move(waiting_.front());
    waiting_.pop_front();
    return wish;
}

// An unsolicited answer, after a change by another viewer, also lets the next request go.
void Wishes::take(const ControlAnswer& answer) {
    const std::lock_guard lock(mutex_);
    under_way_ = false;
    refusal_ = answer.done ? "" : answer.text;
    if (answer.done) state_ = answer.text;
}

void Wishes::restart() {
    const std::lock_guard lock(mutex_);
    under_way_ = false;
    if (waiting_.empty() || !waiting_.front().empty())
        waiting_.push_front("");  // an empty request returns the settings of the new connection
}

}  // namespace framewire::net
