#pragma once

#include "framewire/core/log.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace framewire::kit {

/// Captures all log lines of level `least` and above during its lifetime, from all threads.
class CapturedLog {
public:
    explicit CapturedLog(LogLevel least = LogLevel::info)
        : before_(set_log_output({least, [&lines = *lines_](LogLevel, std::string_view line) {
                                      const std::lock_guard lock(lines.mutex);
                                      lines.text.append(line) += '\n';
                                  }})) {}
    ~CapturedLog() { set_log_output(std::move(before_)); }
    CapturedLog(const CapturedLog&) = delete;
    CapturedLog& operator=(const CapturedLog&) = delete;

    std::string text() const {
        const std::lock_guard lock(lines_->mutex);
        return lines_->text;
    }
    int lines() const {
        const auto all = text();
        return static_cast<int>(std::count(all.begin(), all.end(), '\n'));
    }

private:
    struct Lines {
        std::mutex mutex;
        std::string text;
    };
    // Allocated on the heap, because ThreadSanitizer confuses a mutex on the stack with one that an earlier test had at
    // the same address.
    std::unique_ptr<Lines> lines_ = std::make_unique<Lines>();
    LogOutput before_;
};

}  // namespace framewire::kit
