#include "framewire/core/log.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/text.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <iterator>
#include <mutex>
#include <string>
#include <utility>

namespace framewire {
namespace {

constexpr std::array<std::string_view, 6> level_names{"trace", "debug", "info", "warning", "error", "off"};

// Log output of the process. `mutex` guards everything but `least`.
struct State {
    std::mutex mutex;
    LogOutput output;
    // A copy of `output.least`, so that a line below the level takes no lock.
    std::atomic<LogLevel> least = output.least;
};

// Returns the process's state. It is never destroyed, because destructors that run at the end of the program may
// still log.
State& state() {
    static auto& there = *new State;
    return there;
}

// The default sink. Writes one line per message, with credentials hidden and control characters escaped.
void write_to_standard_error(LogLevel level, std::string_view text) {
    const auto line = fmt::format("framewire: {}: {}\n", to_string(level), printable(without_credentials(text)));
    std::fwrite(line.data(), 1, line.size(), stderr);  // one call, so that lines of other processes do not mix with it
}

// True while this thread is inside a sink and thus holds the mutex.
thread_local bool in_sink = false;

}  // namespace

std::string_view to_string(LogLevel level) { return level_names[static_cast<std::size_t>(level)]; }

LogLevel parse_log_level(std::string_view text) {
    const auto name = std::find(level_names.begin(), level_names.end(), text);
    if (name == level_names.end())
        fail(ErrorCode::usage, "unknown log level '{}'; allowed: trace, debug, info, warning, error, off", text);
    return static_cast<LogLevel>(std::distance(level_names.begin(), name));
}

LogOutput set_log_output(LogOutput output) {
    const std::lock_guard lock(state().mutex);
    state().least = output.least;
    return std::exchange(state().output, std::move(output));
}

bool is_logged(LogLevel level) noexcept { return level >= state().least.load(std::memory_order_relaxed); }

// Formats outside of the lock, and checks the level again within it, since the output may have changed
// meanwhile.
void log_formatted(LogLevel level, fmt::string_view text, fmt::format_args values) noexcept {
    if (in_sink) return;  // a sink logs: this thread already holds the lock
    try {
        const auto line = fmt::vformat(text, values);
        const std::lock_guard lock(state().mutex);
        if (level < state().output.least) return;
        in_sink = true;
        if (state().output.sink)
            state().output.sink(level, line);
        else
            write_to_standard_error(level, line);
    } catch (...) {  // logging never makes its caller fail; destructors log too
    }
    in_sink = false;
}

}  // namespace framewire
