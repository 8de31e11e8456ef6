#pragma once

#include "command_line/command_line.hpp"

#include <functional>

namespace framewire::app {

/// Work of the chosen subcommand: returns the exit code, throws Error.
using Action = std::function<int()>;

// Each function adds its subcommand to the program; if the command line names it, `chosen` is set.
/// Source -> filters -> file, pipe or network address.
void add_run(CommandLine& program, Action& chosen);
/// Cameras -> filters -> difference streams to viewers.
void add_serve(CommandLine& program, Action& chosen);
/// Reports problems of a configuration file of `serve`.
void add_check(CommandLine& program, Action& chosen);
/// Shows or records difference streams.
void add_view(CommandLine& program, Action& chosen);
/// Shows local sources in a window.
void add_show(CommandLine& program, Action& chosen);
/// Finds moving objects.
void add_detect(CommandLine& program, Action& chosen);
/// Computes descriptors, finds people, or trains models.
void add_hog(CommandLine& program, Action& chosen);
/// Lists filters.
void add_filters(CommandLine& program, Action& chosen);
/// Lists kinds of sources.
void add_sources(CommandLine& program, Action& chosen);
/// Lists GPUs, instruction sets and cameras.
void add_devices(CommandLine& program, Action& chosen);
/// Declares the subcommand bench, which another program implements.
void add_bench(CommandLine& program, Action& chosen);
/// Prints help, the manual page or completion scripts.
void add_help(CommandLine& program, Action& chosen);

/// If the command line names the subcommand bench or asks for its help, replaces this process with framewire-bench and
/// the remaining arguments, whose options only that program knows, and does not return. Throws Error{config} if
/// framewire-bench was not built.
void run_bench_where_named(int argc, char** argv);

}  // namespace framewire::app
