#include "commands/version.hpp"
#include "commands/listing/cpu_info.hpp"

#include "framewire/cuda/device.hpp"
#include "framewire/media/media.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace framewire::app {
namespace {

// Returns the versions of the CUDA toolkit and driver as text.
std::string cuda_in_words() {
    const auto toolkit = cuda::toolkit_version(), driver = cuda::driver_version();
    if (toolkit.empty()) return "not built in";
    return fmt::format("{}, {}", toolkit, driver.empty() ? "no driver here" : fmt::format("driver for {}", driver));
}

}  // namespace

std::string version_text() {
    const auto ffmpeg = ffmpeg_version();
    return fmt::format(
        "framewire {}\n"
        "CUDA: {}\n"
        "FFmpeg: {}\n"
        "instruction sets: {}; this CPU runs {}",
        FRAMEWIRE_VERSION, cuda_in_words(), ffmpeg.empty() ? "not built in" : ffmpeg,
        fmt::join(compiled_instruction_sets(), ", "), fmt::join(cpu_info().instruction_sets, ", "));
}

}  // namespace framewire::app
