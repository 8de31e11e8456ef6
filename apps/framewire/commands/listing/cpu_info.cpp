#include "commands/listing/cpu_info.hpp"

#include "framewire/core/simd.hpp"

#include <hwy/targets.h>

#include <cstdint>
#include <fstream>
#include <thread>

namespace framewire::app {
namespace {

// Returns the names of Highway's target bits, best first; lower bits are better.
std::vector<std::string> names_of(std::uint64_t targets) {
    std::vector<std::string> names;
    for (; targets != 0; targets &= targets - 1)
        names.emplace_back(hwy::TargetName(static_cast<std::int64_t>(targets & -targets)));
    return names;
}

constexpr auto compiled_targets = static_cast<std::uint64_t>(HWY_TARGETS);

// Without a choice at run time, Highway's answer may lack the only instruction set (core/simd.hpp).
std::uint64_t usable_targets() {
    if constexpr (!HWY_HAVE_RUNTIME_DISPATCH) return compiled_targets;
    return static_cast<std::uint64_t>(hwy::SupportedTargets()) & compiled_targets;
}

}  // namespace

std::vector<std::string> compiled_instruction_sets() { return names_of(compiled_targets); }

// Describes the CPU. The model name comes from /proc/cpuinfo on x86; on other CPUs it stays "unknown".
CpuInfo cpu_info() {
    CpuInfo info{"unknown", std::thread::hardware_concurrency(), names_of(usable_targets())};
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (line.rfind("model name", 0) != 0) continue;
        if (const auto colon = line.find(": "); colon != line.npos) info.model = line.substr(colon + 2);
        break;
    }
    return info;
}

}  // namespace framewire::app
