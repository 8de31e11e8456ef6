#pragma once

#include "framewire/core/log.hpp"
#include "framewire/core/time/clock.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace framewire::net {

/// One kind of log line that peers can cause, and so cause as often as they like: a few go through in each period, the
/// rest are counted and their number is told afterwards. For one thread.
class LimitedLog {
public:
    static constexpr int lines_a_period = 20, lines_of_a_peer = 10;
    static constexpr std::chrono::seconds period{10};

    /// `about` says what the lines tell, as in "viewers that came".
    LimitedLog(LogLevel level, std::string about) : level_(level), about_(std::move(about)) {}
    ~LimitedLog() { tell(left_out_); }
    LimitedLog(const LimitedLog&) = delete;
    LimitedLog& operator=(const LimitedLog&) = delete;

    template <class... Values>
    void line(fmt::format_string<Values...> text, Values&&... values) {
        const auto now = Clock::now();
        tell_left_out(now);
        if (takes(now)) log_at(level_, text, std::forward<Values>(values)...);
    }

    /// The same of a line that `peer` has caused: half of them at most are of one peer, so that it hides no other's.
    template <class... Values>
    void line_of(const std::string& peer, fmt::format_string<Values...> text, Values&&... values) {
        const auto now = Clock::now();
        tell_left_out(now);
        if (takes(now, peer)) log_at(level_, text, std::forward<Values>(values)...);
    }

    /// Logs how many lines were left out of a period that is over; nothing while it lasts. To be called now and then.
    void tell_left_out(Clock::time_point now);

    // What the two above go by.

    /// Whether a line may go through at `now`; counts it as left out when not. An empty peer is none.
    bool takes(Clock::time_point now, const std::string& peer = {});
    /// How many were left out of the period before `now`, once; 0 while it lasts.
    std::int64_t take_left_out(Clock::time_point now);

private:
    void tell(std::int64_t left_out) const;

    LogLevel level_;
    std::string about_;
    Clock::time_point period_end_ = Clock::time_point::min();
    int lines_ = 0;
    std::map<std::string, int> lines_of_;  // of peers that had some in this period: lines_a_period at most
    std::int64_t left_out_ = 0;
};

}  // namespace framewire::net
