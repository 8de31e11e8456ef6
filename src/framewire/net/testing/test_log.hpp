#pragma once

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <ostream>
#include <streambuf>
#include <string>

namespace framewire::net::testing {

/// Takes all log lines while it lives. Made before the threads that log, and gone after them.
class CapturedLog {
public:
    CapturedLog() : before_(spdlog::default_logger()) {
        auto logger =
            std::make_shared<spdlog::logger>("captured", std::make_shared<spdlog::sinks::ostream_sink_mt>(stream_));
        logger->set_pattern("%v");
        spdlog::set_default_logger(std::move(logger));
    }
    ~CapturedLog() { spdlog::set_default_logger(before_); }
    CapturedLog(const CapturedLog&) = delete;
    CapturedLog& operator=(const CapturedLog&) = delete;

    std::string text() const {
        const std::lock_guard lock(buffer_.mutex);
        return buffer_.text;
    }
    int lines() const {
        const auto all = text();
        return static_cast<int>(std::count(all.begin(), all.end(), '\n'));
    }

private:
    // Read while others write.
    struct Buffer : std::streambuf {
        mutable std::mutex mutex;
        std::string text;

        std::streamsize xsputn(const char* characters, std::streamsize count) override {
            const std::lock_guard lock(mutex);
            text.append(characters, static_cast<std::size_t>(count));
            return count;
        }
        int_type overflow(int_type character) override {
            const std::lock_guard lock(mutex);
            text += static_cast<char>(character);
            return character;
        }
    };

    Buffer buffer_;
    std::ostream stream_{&buffer_};
    std::shared_ptr<spdlog::logger> before_;
};

}  // namespace framewire::net::testing
