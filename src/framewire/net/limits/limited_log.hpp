#pragma once

#include "framewire/core/log.hpp"
#include "framewire/core/time/clock.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace framewire::net {

/// Rate-limited log for one kind of line that peers can cause at will. Each period lets a few lines through; the others
/// are counted, and their number is logged when the period is over. Use it from one thread.
class LimitedLog {
public:
    /// Most lines per period, in total and per peer.
    static constexpr int lines_a_period = 20, lines_of_a_peer = 10;
    /// Length of a period.
    static constexpr std::chrono::seconds period{10};

    /// `about` names what the lines report, for example "viewers that came".
    LimitedLog(LogLevel level, std::string about) : level_(level), about_(std::move(about)) {}
    /// Logs how many lines were suppressed since the last report.
    ~LimitedLog() { tell(left_out_); }
    LimitedLog(const LimitedLog&) = delete;
    LimitedLog& operator=(const LimitedLog&) = delete;

    /// Logs a line unless the period's limit is reached. Takes the arguments of fmt::format().
    template <class... Values>
    void line(fmt::format_string<Values...> text, Values&&... values) {
        const auto now = Clock::now();
        tell_left_out(now);
        if (takes(now)) log_at(level_, text, std::forward<Values>(values)...);
    }

    /// Like line(), for a line that `peer` caused. At most half of a period's lines may come from one peer, so it
    /// cannot suppress the lines about others.
    template <class... Values>
    void line_of(const std::string& peer, fmt::format_string<Values...> text, Values&&... values) {
        const auto now = Clock::now();
        tell_left_out(now);
        if (takes(now, peer)) log_at(level_, text, std::forward<Values>(values)...);
    }

    /// Logs how many lines were suppressed in a period that is over. Does nothing during the period. Call it
    /// periodically.
    void tell_left_out(Clock::time_point now);

    // The functions below implement the ones above.

    /// Returns true if a line may be logged at `now`, and counts it as suppressed otherwise. An empty `peer` means no
    /// peer.
    bool takes(Clock::time_point now, const std::string& peer = {});
    /// Returns how many lines were suppressed in a period that ended before `now`, and resets the count. Returns 0
    /// during the period.
    std::int64_t take_left_out(Clock::time_point now);

private:
    void tell(std::int64_t left_out) const;

    LogLevel level_;
    std::string about_;
    Clock::time_point period_end_ = Clock::time_point::min();
    int lines_ = 0;
    std::map<std::string, int> lines_of_;  // of peers with lines in this period; at most lines_a_period entries
    std::int64_t left_out_ = 0;
};

}  // namespace framewire::net
