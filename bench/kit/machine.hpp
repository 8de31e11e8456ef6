#pragma once

#include <string>

namespace framewire::bench {

/// Environment of a measurement: the machine and the build.
struct Machine {
    std::string cpu;
    int cores = 0;                     ///< hardware threads that the system schedules on
    std::string gpu, driver, toolkit;  ///< empty if there is none
    std::string compiler, build_type;
    std::string revision;  ///< git's description of the sources, with "-dirty" if they were modified; empty outside git
    std::string date;      ///< time of this run, in UTC: "2026-01-31 12:00"
};

Machine this_machine();

}  // namespace framewire::bench
