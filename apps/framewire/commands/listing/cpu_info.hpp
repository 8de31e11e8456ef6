#pragma once

#include <string>
#include <vector>

namespace framewire::app {

/// CPU of this machine.
struct CpuInfo {
    std::string model;
    unsigned threads = 0;
    std::vector<std::string> instruction_sets;  ///< supported by both this build and this CPU, best first
};

/// Describes the CPU that the program runs on.
CpuInfo cpu_info();

/// All instruction sets that this build has code for, best first.
std::vector<std::string> compiled_instruction_sets();

}  // namespace framewire::app
