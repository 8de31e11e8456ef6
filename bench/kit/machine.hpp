#pragma once

#include <string>

namespace framewire::bench {

/// What figures are of: this machine, and what was built how.
struct Machine {
    std::string cpu;
    int cores = 0;                     ///< that the system schedules on: hardware threads
    std::string gpu, driver, toolkit;  ///< empty without
    std::string compiler, build_type;
    std::string revision;  ///< git's name of what was built, "-dirty" behind it with changes; empty outside of git
    std::string date;      ///< of this run, UTC: "2026-01-31 12:00"
};

Machine this_machine();

}  // namespace framewire::bench
