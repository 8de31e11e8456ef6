// Code shared by subcommands with outputs: signal handling, and the question whether existing files may be replaced.
//
//    outputs exist, -y      replaced
//    outputs exist, -n      nothing is done, exit code 0
//    outputs exist          asked on a terminal, otherwise Error{io}

#include "commands/work.hpp"
#include "signals/stop_signals.hpp"
#include "view/log_lines.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"

#include <fmt/format.h>

#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <utility>

namespace framewire::app {
namespace {

// Runs the work with signal handling and returns the exit code. Call it before any thread is started, because threads
// inherit the signal mask.
int run_stoppable(const StoppableWork& work) {
    StopSignals signals;
    try {
        work(signals.stop());
    } catch (const Error& error) {
        if (signals.received() == 0) throw;
        log_warning("{}", error.what());
    }
    return signals.received() == 0 ? 0 : 128 + signals.received();
}

// Asks a question on the terminal. Returns false at the end of standard input and on a stop request.
bool answers_yes(const std::string& question, const std::stop_token& stop) {
    fmt::print(stderr, "{} [y/N] ", question);
    std::fflush(stderr);
    // Input is polled, so that a stop request ends the wait for an answer.
    pollfd waiting{STDIN_FILENO, POLLIN, 0};
    while (::poll(&waiting, 1, 100) <= 0)
        if (stop.stop_requested()) return false;
    char answer[16] = {};
    return ::read(STDIN_FILENO, answer, sizeof answer - 1) > 0 && (answer[0] == 'y' || answer[0] == 'Y');
}

// Returns the beginning of a message: "FILE already exists" or "FILE and N more outputs already exist".
std::string existing_outputs(const std::vector<std::string>& there) {
    return there.size() == 1 ? fmt::format("{} already exists", there.front())
                             : fmt::format("{} and {} more outputs already exist", there.front(), there.size() - 1);
}

}  // namespace

void set_work(const Command& command, Action& chosen, const CommonOptions& options, StoppableWork work) {
    command.when_chosen([&chosen, &options, work = std::move(work)] {
        chosen = [&options, work] {
            show_log_lines(parse_log_level(options.log_level));
            return run_stoppable(work);
        };
    });
}

bool may_write(const jobs::JobFiles& files, CommonOptions& common, const std::stop_token& stop) {
    files.require_different();
    if (const auto& option = files.bytes_to_standard_output(); !option.empty() && ::isatty(STDOUT_FILENO))
        fail(ErrorCode::usage,
             "{} - writes data to standard output, which is a terminal; name a file, or redirect it with > or |",
             option);
    std::vector<std::string> there;
    for (const auto& file : files.there()) there.push_back(file.path);
    if (there.empty() || common.replace) return true;
    if (common.keep) {
        log_info("{} and will be kept (-n); nothing to do", existing_outputs(there));
        return false;
    }
    require_leave_to_replace(there, !files.reads_standard_input(), common, stop);
    return true;
}

void require_leave_to_replace(const std::vector<std::string>& there, bool may_ask, CommonOptions& common,
                              const std::stop_token& stop) {
    const auto what = existing_outputs(there);
    if (may_ask && ::isatty(STDIN_FILENO) && ::isatty(STDERR_FILENO)) {
        common.replace = answers_yes(what + "; replace?", stop);
        if (common.replace) return;
    }
    fail(ErrorCode::io, "{}; use -y to replace, -n to keep", what);
}

}  // namespace framewire::app
