#pragma once

#include "command_line/command_line.hpp"

#include <functional>

namespace framewire::app {

/// Work of the chosen subcommand: returns the exit code, throws Error.
using Action = std::function<int()>;

// Each function adds its subcommand to the program; if the command line names it, `chosen` is set.
void add_run(CommandLine& program, Action& chosen);
void add_serve(CommandLine& program, Action& chosen);
void add_check(CommandLine& program, Action& chosen);
void add_view(CommandLine& program, Action& chosen);
void add_show(CommandLine& program, Action& chosen);
void add_detect(CommandLine& program, Action& chosen);
void add_hog(CommandLine& program, Action& chosen);
void add_filters(CommandLine& program, Action& chosen);
void add_sources(CommandLine& program, Action& chosen);
void add_devices(CommandLine& program, Action& chosen);
void add_bench(CommandLine& program, Action& chosen);
void add_help(CommandLine& program, Action& chosen);

/// If the command line names the subcommand bench or asks for its help, replaces this process with framewire-bench and
/// the remaining arguments, whose options only that program knows, and does not return. Throws Error{config} if
/// framewire-bench was not built.
void run_bench_where_named(int argc, char** argv);

}  // namespace framewire::app
