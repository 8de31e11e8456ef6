#include "framewire/net/limits/limited_log.hpp"

namespace framewire::net {

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
    if (left_out > 0) log_at(level_, "{} more lines about {} were left out here", left_out, about_);
}

}  // namespace framewire::net
