#pragma once

#include <string>
#include <vector>

namespace framewire::app {

/// The CPU of this machine.
struct CpuInfo {
    std::string model;
    unsigned threads = 0;
    std::vector<std::string> instruction_sets;  ///< those that both this build and this CPU support, best first
};

/// Describes the CPU that the program runs on.
CpuInfo cpu_info();

/// Returns all instruction sets for which this build has code, best first.
std::vector<std::string> compiled_instruction_sets();

}  // namespace framewire::app
