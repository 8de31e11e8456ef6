#pragma once

#include "framewire/core/log.hpp"

#include <algorithm>
#include <mutex>
#include <string>
#include <utility>

namespace framewire::kit {

/// Takes all log lines of `least` and above while it lives, by any thread.
class CapturedLog {
public:
    explicit CapturedLog(LogLevel least = LogLevel::info)
        : before_(set_log_output({least, [this](LogLevel, std::string_view line) {
                                      const std::lock_guard lock(mutex_);
                                      text_.append(line) += '\n';
                                  }})) {}
    ~CapturedLog() { set_log_output(std::move(before_)); }
    CapturedLog(const CapturedLog&) = delete;
    CapturedLog& operator=(const CapturedLog&) = delete;

    std::string text() const {
        const std::lock_guard lock(mutex_);
        return text_;
    }
    int lines() const {
        const auto all = text();
        return static_cast<int>(std::count(all.begin(), all.end(), '\n'));
    }

private:
    mutable std::mutex mutex_;
    std::string text_;
    LogOutput before_;
};

}  // namespace framewire::kit
