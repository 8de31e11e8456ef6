#pragma once

#include "commands/commands.hpp"
#include "options/common.hpp"

#include "framewire/jobs/job.hpp"

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace framewire::app {

/// Function that does the work of a subcommand. SIGINT, SIGTERM and SIGHUP request a stop through `stop`.
using StoppableWork = std::function<void(const std::stop_source& stop)>;

/// Arranges that `work` runs if the command line names the subcommand, with log lines on standard error. A second
/// signal, at least a second after the first, ends the program immediately. After the first signal an error from `work`
/// is only logged, and the exit code is 128 + signal number. `options` must live as long as `work`.
void set_work(const Command& command, Action& chosen, const CommonOptions& options, StoppableWork work);

/// Checks the outputs before any work. Throws Error{usage} if an output is also an input or another output, or if video
/// would be written to a terminal. Existing outputs are replaced with -y; without it, the user is asked on a terminal,
/// and elsewhere Error{io} is thrown. Returns false if -n keeps the outputs and nothing remains to be done; otherwise
/// sets `common.replace`.
bool may_write(const jobs::JobFiles& files, CommonOptions& common, const std::stop_token& stop);

/// Asks on a terminal whether these outputs may be replaced, and sets `common.replace`. Throws Error{io} if they may
/// not be replaced.
void require_leave_to_replace(const std::vector<std::string>& there, bool may_ask, CommonOptions& common,
                              const std::stop_token& stop);

}  // namespace framewire::app
