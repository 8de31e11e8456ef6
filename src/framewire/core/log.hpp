#pragma once

#include <fmt/core.h>

#include <functional>
#include <string_view>

namespace framewire {

/// How serious a line is; as the least level of an output, `off` lets none through.
enum class LogLevel { trace, debug, info, warning, error, off };

/// `trace`, `debug`, `info`, `warning`, `error`, `off`.
std::string_view to_string(LogLevel level);
/// The level of that name. Throws Error{usage}, which names those there are.
LogLevel parse_log_level(std::string_view text);

/// Takes lines, one call at a time, from whichever thread logs. `text` is one message without a line break at its end
/// and may hold what peers and files put there: see without_credentials() and printable(). What a sink logs itself is
/// dropped, and so is what it throws.
using LogSink = std::function<void(LogLevel level, std::string_view text)>;

/// Where lines go, and which ones.
struct LogOutput {
    LogLevel least = LogLevel::warning;
    LogSink sink = {};  ///< empty: to standard error as `framewire: warning: ...`
};

/// Sends all lines of this process to `output` from now on, and returns the one before it, which gets no line any more.
/// Not to be called by a sink.
LogOutput set_log_output(LogOutput output);

/// Whether lines of `level` go anywhere; for those that take work to put together.
bool is_logged(LogLevel level) noexcept;

/// Logs a line whose text is formatted as by fmt::vformat. Never throws: a line that cannot be made is dropped.
void log_formatted(LogLevel level, fmt::string_view text, fmt::format_args values) noexcept;

/// Logs a line whose text is formatted as by fmt::format, which takes no time where lines of `level` go nowhere. For
/// any thread; never throws.
template <class... Values>
void log_at(LogLevel level, fmt::format_string<Values...> text, Values&&... values) noexcept {
    if (is_logged(level)) log_formatted(level, text, fmt::make_format_args(values...));
}

template <class... Values>
void log_debug(fmt::format_string<Values...> text, Values&&... values) noexcept {
    if (is_logged(LogLevel::debug)) log_formatted(LogLevel::debug, text, fmt::make_format_args(values...));
}
template <class... Values>
void log_info(fmt::format_string<Values...> text, Values&&... values) noexcept {
    if (is_logged(LogLevel::info)) log_formatted(LogLevel::info, text, fmt::make_format_args(values...));
}
template <class... Values>
void log_warning(fmt::format_string<Values...> text, Values&&... values) noexcept {
    if (is_logged(LogLevel::warning)) log_formatted(LogLevel::warning, text, fmt::make_format_args(values...));
}
template <class... Values>
void log_error(fmt::format_string<Values...> text, Values&&... values) noexcept {
    if (is_logged(LogLevel::error)) log_formatted(LogLevel::error, text, fmt::make_format_args(values...));
}

}  // namespace framewire
