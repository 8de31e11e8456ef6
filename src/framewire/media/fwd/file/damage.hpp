#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <set>
#include <string>
#include <utility>

namespace framewire::fwd {

/// Log and count of a file's damage; each position is reported once.
class Damage {
public:
    explicit Damage(std::string name) : name_(std::move(name)) {}

    /// Reports damage at a byte offset. Only the first positions are logged.
    template <class... Values>
    void say(std::int64_t offset, fmt::format_string<Values...> text, Values&&... values) {
        if (is_new(offset)) log(fmt::format(text, std::forward<Values>(values)...));
    }
    /// Counts frames that are lost or incomplete at a byte offset, once per offset.
    void count_frames(std::int64_t offset, std::int64_t frames);

    /// Number of lost or incomplete frames.
    std::int64_t frames() const { return frames_; }
    bool any() const { return !first_.empty() || frames_ > 0; }
    /// Throws Error{source_lost} if there is any damage.
    void require_none() const;

private:
    bool is_new(std::int64_t offset);
    void log(const std::string& text);

    std::string name_, first_;
    std::set<std::int64_t> said_, counted_;  // offsets
    std::int64_t frames_ = 0;
};

}  // namespace framewire::fwd
