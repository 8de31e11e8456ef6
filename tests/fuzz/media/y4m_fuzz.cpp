// Fuzzes y4m files (header, FRAME lines, truncated frames): malformed ones must be refused, or read to their end.

#include "fuzz/memory_file.hpp"

#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/time.hpp"
#include "framewire/media/raw_video.hpp"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace framewire;
    set_log_output({.least = LogLevel::off});
    const fuzz::MemoryFile file(data, size);
    try {
        const auto source = open_y4m_source(file.path(), {.max_pixels = 4096});
        // The rate must be in its lowest terms, and every sink must accept it.
        const auto& rate = source->info().rate;
        const auto again = parse_rate(fmt::format("{}/{}", rate.numerator, rate.denominator));
        if (!again || again->numerator != rate.numerator) std::abort();
        HostImage image(source->info().shape);
        FrameTime time;
        while (source->read(image.view(), time)) {
        }
        if (source->seek(0.04)) source->read(image.view(), time);
    } catch (const Error&) {
    }
    return 0;
}
