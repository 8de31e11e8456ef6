#pragma once

#include <string>
#include <vector>

namespace framewire::app {

struct CpuInfo {
    std::string model;
    unsigned threads = 0;
    std::vector<std::string> instruction_sets;  ///< that this build has code for and this CPU runs, the best first
};

CpuInfo cpu_info();

/// All that this build has code for, the best first.
std::vector<std::string> compiled_instruction_sets();

}  // namespace framewire::app
