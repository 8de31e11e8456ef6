#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <set>
#include <string>
#include <utility>

namespace framewire::fwd {

/// What is wrong with a file, said once for each place in it, and counted.
class Damage {
public:
    explicit Damage(std::string name) : name_(std::move(name)) {}

    /// Something at a byte of the file. Of many places the first ones are said.
    template <class... Values>
    void say(std::int64_t offset, fmt::format_string<Values...> text, Values&&... values) {
        if (is_new(offset)) log(fmt::format(text, std::forward<Values>(values)...));
    }
    /// Frames that are lost, or are not whole, at a byte of the file; once for each.
    void count_frames(std::int64_t offset, std::int64_t frames);

    std::int64_t frames() const { return frames_; }
    bool any() const { return !first_.empty() || frames_ > 0; }
    /// Throws Error{source_lost} where there is any.
    void require_none() const;

private:
    bool is_new(std::int64_t offset);
    void log(const std::string& text);

    std::string name_, first_;
    std::set<std::int64_t> said_, counted_;  // places
    std::int64_t frames_ = 0;
};

}  // namespace framewire::fwd
