#pragma once

#include "command_line/command_line.hpp"

#include <functional>

namespace framewire::app {

/// Work of the chosen subcommand: returns the exit code or throws Error.
using Action = std::function<int()>;

// Each of the following functions adds a subcommand to the program and sets `chosen` if the command line names it.
/// Adds `run`: source -> filters -> file, pipe or network address.
void add_run(CommandLine& program, Action& chosen);
/// Adds `explain`, which shows the plan of a `run`.
void add_explain(CommandLine& program, Action& chosen);
/// Adds `serve`: cameras -> filters -> difference streams to viewers.
void add_serve(CommandLine& program, Action& chosen);
/// Adds `check`, which reports problems in a configuration file of `serve`.
void add_check(CommandLine& program, Action& chosen);
/// Adds `view`, which shows or records difference streams.
void add_view(CommandLine& program, Action& chosen);
/// Adds `show`, which shows local sources in a window.
void add_show(CommandLine& program, Action& chosen);
/// Adds `detect`, which finds moving objects.
void add_detect(CommandLine& program, Action& chosen);
/// Adds `find`, which lists and cuts the times when something moves.
void add_find(CommandLine& program, Action& chosen);
/// Adds `hog`, which computes descriptors, finds people, or trains models.
void add_hog(CommandLine& program, Action& chosen);
/// Adds `filters`, which lists the filters.
void add_filters(CommandLine& program, Action& chosen);
/// Adds `sources`, which lists the kinds of sources.
void add_sources(CommandLine& program, Action& chosen);
/// Adds `devices`, which lists GPUs, instruction sets and cameras.
void add_devices(CommandLine& program, Action& chosen);
/// Adds `bench`, which another program implements.
void add_bench(CommandLine& program, Action& chosen);
/// Adds `help`, which prints help, the manual page or completion scripts.
void add_help(CommandLine& program, Action& chosen);

/// If the command line names the subcommand bench or requests its help, replaces this process with framewire-bench and
/// passes on the remaining arguments; does not return in that case. Throws Error{config} if framewire-bench was not
/// built.
void run_bench_where_named(int argc, char** argv);

}  // namespace framewire::app
