#pragma once

#include "commands/commands.hpp"
#include "options/common.hpp"

#include "framewire/session/job/job_files.hpp"

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace framewire::app {

/// What a subcommand does, with SIGINT, SIGTERM and SIGHUP turned into a stop of the source it is given.
using StoppableWork = std::function<void(const std::stop_source& stop)>;

/// Lets the subcommand do `work` when the command line names it, with its log lines on standard error. A second signal
/// a second or more after the first ends the program at once; after the first what `work` throws is logged only, and
/// the exit code is 128+n. `options` lives as long as `work`.
void set_work(const Command& command, Action& chosen, const CommonOptions& options, StoppableWork work);

/// Throws Error{usage} where an output is an input or another output, and where video would go to a terminal. Outputs
/// that are there already are replaced with -y, asked about on a terminal, and refused elsewhere with Error{io}. False
/// where -n keeps them and there is nothing to do; else `common.replace` says what the outputs may do.
bool may_write(const session::JobFiles& files, CommonOptions& common, const std::stop_token& stop);

/// Asks on a terminal whether these outputs may be replaced, and sets `common.replace`; throws Error{io} where they may
/// not.
void require_leave_to_replace(const std::vector<std::string>& there, bool may_ask, CommonOptions& common,
                              const std::stop_token& stop);

}  // namespace framewire::app
