#include "commands.hpp"

#include "framewire/core/simd.hpp"
#include "framewire/cuda/build.hpp"
#include "framewire/cuda/device.hpp"

#include <CLI/CLI.hpp>
#include <fmt/ranges.h>
#include <hwy/targets.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace framewire::app {
namespace {

using Json = nlohmann::ordered_json;

struct CpuInfo {
    std::string model;
    unsigned threads = 0;
    std::vector<std::string> instruction_sets;  // that this build has code for, the best first
};

CpuInfo cpu() {
    CpuInfo info{"unknown", std::thread::hardware_concurrency(), {}};
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (line.rfind("model name", 0) != 0) continue;
        if (const auto colon = line.find(": "); colon != line.npos) info.model = line.substr(colon + 2);
        break;
    }
    // Highway's target bits: the lower, the better.
    auto targets = static_cast<std::uint64_t>(hwy::SupportedTargets()) & static_cast<std::uint64_t>(HWY_TARGETS);
    for (; targets != 0; targets &= targets - 1)
        info.instruction_sets.emplace_back(hwy::TargetName(static_cast<std::int64_t>(targets & -targets)));
    return info;
}

Json as_json() {
    auto gpus = Json::array();
    for (const auto& gpu : cuda::devices())
        gpus.push_back({{"index", gpu.index},
                        {"name", gpu.name},
                        {"compute_capability", fmt::format("{}.{}", gpu.compute_major, gpu.compute_minor)},
                        {"multiprocessors", gpu.multiprocessors},
                        {"memory_bytes", gpu.memory_bytes},
                        {"l2_bytes", gpu.l2_bytes}});
    Json json;
    json["cuda"] = {{"compiled", cuda::compiled}, {"gpus", gpus}, {"reason", cuda::why_no_device()}};
    const auto processor = cpu();
    json["cpu"] = {{"model", processor.model},
                   {"threads", processor.threads},
                   {"instruction_sets", processor.instruction_sets}};
    return json;
}

void print() {
    const auto gpus = cuda::devices();
    if (gpus.empty()) fmt::print("GPUs: none ({})\n", cuda::why_no_device());
    for (const auto& gpu : gpus)
        fmt::print("GPU {}: {}, compute {}.{}, {} multiprocessors, {:.1f} GiB\n", gpu.index, gpu.name, gpu.compute_major,
                   gpu.compute_minor, gpu.multiprocessors, static_cast<double>(gpu.memory_bytes) / (1 << 30));
    const auto processor = cpu();
    fmt::print("CPU: {}, {} threads, {}\n", processor.model, processor.threads,
               fmt::join(processor.instruction_sets, ", "));
}

}  // namespace

void add_devices(CLI::App& program, Action& chosen) {
    auto* command = program.add_subcommand("devices", "Lists GPUs, the CPU's instruction sets and cameras");
    const auto json = std::make_shared<bool>(false);
    command->add_flag("--json", *json, "for machines");
    command->callback([&chosen, json] {
        chosen = [json] {
            if (*json)
                fmt::print("{}\n", as_json().dump(2, ' ', false, Json::error_handler_t::replace));
            else
                print();
            return 0;
        };
    });
}

}  // namespace framewire::app
