#include "kit/machine.hpp"

#include "framewire/cuda/device.hpp"
#include "kit/build.hpp"
#include "revision.hpp"

#include <fmt/chrono.h>
#include <sys/utsname.h>

#include <ctime>
#include <fstream>
#include <thread>

namespace framewire::bench {
namespace {

// Returns the model that Linux reports; otherwise the kind of machine.
std::string cpu_model() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
    utsname names{};
    return ::uname(&names) == 0 ? names.machine : "";
}

}  // namespace

Machine this_machine() {
    const auto gpus = cuda::devices();
    return {.cpu = cpu_model(),
            .cores = static_cast<int>(std::thread::hardware_concurrency()),
            .gpu = gpus.empty() ? "" : gpus.front().name,
            .driver = gpus.empty() ? "" : cuda::driver_version(),
            .toolkit = cuda::toolkit_version(),
            .compiler = compiler_name(),
            .build_type = build_type(),
            .revision = revision,
            .date = fmt::format("{:%Y-%m-%d %H:%M}", fmt::gmtime(std::time(nullptr)))};
}

}  // namespace framewire::bench
