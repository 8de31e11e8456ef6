#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace framewire::app {

/// What the subcommand on the command line does: gives the exit code, throws Error.
using Action = std::function<int()>;

// Each adds its subcommand to the program; when the command line names it, `chosen` is set.
void add_run(CLI::App& program, Action& chosen);
void add_serve(CLI::App& program, Action& chosen);
void add_view(CLI::App& program, Action& chosen);
void add_detect(CLI::App& program, Action& chosen);
void add_hog(CLI::App& program, Action& chosen);
void add_filters(CLI::App& program, Action& chosen);
void add_sources(CLI::App& program, Action& chosen);
void add_devices(CLI::App& program, Action& chosen);

}  // namespace framewire::app
