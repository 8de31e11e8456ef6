// Prints the program's log lines on standard error.

#include "view/log_lines.hpp"

#include "view/shown_text.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace framewire::app {
namespace {

// Returns true if the terminal's name indicates that it supports colours.
bool has_colours() {
    constexpr std::array<std::string_view, 16> names{"alacritty", "ansi",  "color", "console", "cygwin", "gnome",
                                                     "konsole",   "kterm", "linux", "msys",    "putty",  "rxvt",
                                                     "screen",    "vt100", "vt102", "xterm"};
    if (std::getenv("COLORTERM")) return true;
    const char* terminal = std::getenv("TERM");
    return terminal && std::any_of(names.begin(), names.end(), [&](std::string_view name) {
               return std::string_view(terminal).find(name) != std::string_view::npos;
           });
}

// Returns the ANSI escape sequence for a level.
std::string_view colour(LogLevel level) {
    switch (level) {
        case LogLevel::trace: return "\x1b[37m";
        case LogLevel::debug: return "\x1b[36m";
        case LogLevel::info: return "\x1b[32m";
        case LogLevel::warning: return "\x1b[33m\x1b[1m";
        default: return "\x1b[31m\x1b[1m";
    }
}

}  // namespace

void show_log_lines(LogLevel least) {
    const bool terminal = isatty(STDERR_FILENO), coloured = terminal && has_colours();
    set_log_output({least, [terminal, coloured](LogLevel level, std::string_view text) {
                        const auto line = fmt::format("{}framewire: {}{}{}: {}\n", terminal ? "\r\x1b[K" : "",
                                                      coloured ? colour(level) : "", to_string(level),
                                                      coloured ? "\x1b[m" : "", shown_text(text));
                        // Written with a single call, because the progress bar writes to standard error too.
                        std::fwrite(line.data(), 1, line.size(), stderr);
                    }});
}

}  // namespace framewire::app
