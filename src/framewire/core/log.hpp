#pragma once

#include <fmt/core.h>

#include <functional>
#include <string_view>

namespace framewire {

/// Severity of a line. As the least level of an output, `off` lets no line through.
enum class LogLevel { trace, debug, info, warning, error, off };

/// Returns the name of a level: `trace`, `debug`, `info`, `warning`, `error` or `off`.
std::string_view to_string(LogLevel level);
/// Returns the level called `text`. Throws Error{usage}, which lists the names, if there is no such level.
LogLevel parse_log_level(std::string_view text);

/// Receives log lines. Called by whichever thread logs, one call at a time. `text` is one message without a trailing
/// line break; it can contain text from peers and files, see without_credentials() and printable(). Lines that a sink
/// logs itself are dropped, and its exceptions are swallowed.
using LogSink = std::function<void(LogLevel level, std::string_view text)>;

/// Destination of log lines, and the least level that reaches it.
struct LogOutput {
    LogLevel least = LogLevel::warning;
    LogSink sink = {};  ///< empty: lines go to standard error as `framewire: warning: ...`
};

/// Sends all lines of this process to `output` from now on. Returns the previous output, whose sink gets no further
/// line. Thread-safe, but a sink must not call it.
LogOutput set_log_output(LogOutput output);

/// Returns true if lines of `level` reach the output. For callers whose line is expensive to compose. Thread-safe.
bool is_logged(LogLevel level) noexcept;

/// Logs a line whose text is formatted as fmt::vformat() does. Never throws: a line that cannot be formatted is
/// dropped.
void log_formatted(LogLevel level, fmt::string_view text, fmt::format_args values) noexcept;

/// Logs a line whose text is formatted as fmt::format() does. Formats nothing if `level` is below the least level of
/// the output. Thread-safe; never throws.
template <class... Values>
void log_at(LogLevel level, fmt::format_string<Values...> text, Values&&... values) noexcept {
    if (is_logged(level)) log_formatted(level, text, fmt::make_format_args(values...));
}

/// Calls log_at() with LogLevel::debug.
template <class... Values>
void log_debug(fmt::format_string<Values...> text, Values&&... values) noexcept {
    if (is_logged(LogLevel::debug)) log_formatted(LogLevel::debug, text, fmt::make_format_args(values...));
}
/// Calls log_at() with LogLevel::info.
template <class... Values>
void log_info(fmt::format_string<Values...> text, Values&&... values) noexcept {
    if (is_logged(LogLevel::info)) log_formatted(LogLevel::info, text, fmt::make_format_args(values...));
}
/// Calls log_at() with LogLevel::warning.
template <class... Values>
void log_warning(fmt::format_string<Values...> text, Values&&... values) noexcept {
    if (is_logged(LogLevel::warning)) log_formatted(LogLevel::warning, text, fmt::make_format_args(values...));
}
/// Calls log_at() with LogLevel::error.
template <class... Values>
void log_error(fmt::format_string<Values...> text, Values&&... values) noexcept {
    if (is_logged(LogLevel::error)) log_formatted(LogLevel::error, text, fmt::make_format_args(values...));
}

}  // namespace framewire
